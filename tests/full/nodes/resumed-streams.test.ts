// Stored streams while a gateway is killed every five seconds and started again: every client goes on at another one, and gets every
// event once.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@strata/gateway/store';
import { postgres, rows } from '../../../services/stack/src/store/test/backends.ts';
import { freePort, until } from '../../support/index.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../support/network/cluster.ts';
import { type ResumingClient, resumedCompletion, resumedResponse } from '../../support/network/resumed-streams.ts';

const STREAMS = 20;
/** Takes 40 s undisturbed: at least two gateways are killed, however slowly they start. */
const TOKENS = 600;
const TOKENS_PER_SECOND = 15;
const KILL_MS = 5_000;

it(`${STREAMS} streams lose and repeat no token while a gateway is killed every 5 s, and each is counted once`, {
  skip: postgres.skip,
  timeout: 900_000,
}, async () => {
  await using cluster = await Cluster.open();
  const url = await postgres.empty();
  const started: { running: GatewayProcess; readonly restart: () => Promise<GatewayProcess> }[] = [];
  for (const name of ['a', 'b', 'c']) {
    const [from, to] = ['a', name].map((of) => path.join(cluster.directory, of, 'inference/keys'));
    if (name !== 'a') await cp(from ?? '', to ?? '', { recursive: true });
    const [port, peerPort] = [await freePort(), await freePort()];
    const settings = {
      STRATA_INFERENCE_DATABASE_URL: url,
      STRATA_INFERENCE_PORT: String(port),
      STRATA_P2P: `listen=/ip4/127.0.0.1/tcp/${peerPort},mdns=off`,
    };
    const restart = () => cluster.startGateway({ name, settings });
    started.push({ running: await restart(), restart });
  }
  const bases = started.map(({ running }) => running.ready.base);
  // A gateway gives a new worker four answers at once.
  const simulated = { tokensPerSecond: TOKENS_PER_SECOND, slots: STREAMS };
  await Promise.all(['d', 'e', 'f'].map((name) => cluster.startWorker({ name, simulated })));
  for (const { running } of started) await workersServing(running, 3);
  await using store = await openStore(url);
  const { key, stored } = await store.keys.create({ tier: 'standard' });
  let turn = 0;
  const next = () => bases[turn++ % bases.length] ?? '';
  const client: ResumingClient = { next, key, tokens: TOKENS, receipts: new Set(), resumptions: 0 };
  const streams = Array.from({ length: STREAMS }, (_, n) =>
    n % 2 === 0 ? resumedCompletion(client, n) : resumedResponse(client),
  );
  const all = Promise.all(streams);
  const ended = all.then(() => true);
  await until(() => client.receipts.size >= STREAMS, { what: 'all streams have begun', limitMs: 60_000 });
  let [kills, starting] = [0, Promise.resolve()];
  while (!(await Promise.race([sleep(KILL_MS).then(() => false), ended]))) {
    const gateway = started[kills % started.length] ?? assert.fail();
    await gateway.running.kill();
    kills += 1;
    // On a busy machine the one before still starts; the third one runs.
    await starting;
    starting = gateway.restart().then((running) => void Object.assign(gateway, { running }));
  }
  await starting;
  for (const [n, { faults }] of (await all).entries()) assert.deepEqual(faults, [], `stream ${n}`);
  assert.ok(kills >= 2 && client.resumptions >= STREAMS / 2, `${kills} kills, ${client.resumptions} resumptions`);
  const used = async () => (await store.answers.usage({ since: '2000-01-01', keyId: stored.id }))[0];
  await until(async () => ((await used())?.requests ?? 0) >= STREAMS, { what: 'all receipts are counted' });
  const { requests, completionTokens, promptTokens } = (await used()) ?? assert.fail();
  // A client whose gateway ends before it has the id of its answer asks for another one.
  const [{ receipts } = {}] = await rows(url, 'select count(*)::int as receipts from answer_receipts');
  assert.deepEqual([requests, completionTokens], [receipts, Number(receipts) * TOKENS]);
  const reserved = () => store.tokens.used({ keyId: stored.id, day: '2000-01-01' });
  await until(async () => (await reserved()) === promptTokens + completionTokens, { what: 'no tokens are reserved' });
});
