// Stored streams while two of three gateways are killed: every client goes on at another one, and gets every event once.
import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '@strata/gateway/store';
import OpenAI from 'openai';
import type { Json } from '../../../services/gateway/src/test/harness.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { until } from '../../support/index.ts';
import { Cluster, type GatewayProcess, workersServing } from '../../support/network/cluster.ts';
import { truthOf } from '../../support/network/streams.ts';

const STREAMS = 10;
const TOKENS = 200;
const KILL_MS = 5_000;

it(`${2 * STREAMS} streams lose and repeat no token while gateways are killed, and each is counted once`, {
  skip: postgres.skip,
  timeout: 300_000,
}, async () => {
  await using cluster = await Cluster.open();
  const url = await postgres.empty();
  const gateways: GatewayProcess[] = [];
  for (const name of ['a', 'b', 'c']) {
    const [from, to] = ['a', name].map((of) => path.join(cluster.directory, of, 'inference/keys'));
    if (name !== 'a') await cp(from ?? '', to ?? '', { recursive: true });
    gateways.push(await cluster.startGateway({ name, settings: { STRATA_INFERENCE_DATABASE_URL: url } }));
  }
  await cluster.startWorker({ simulated: { tokensPerSecond: 15, slots: 2 * STREAMS } });
  for (const gateway of gateways) await workersServing(gateway, 1);
  await using store = await openStore(url);
  const { key, stored } = await store.keys.create({ tier: 'standard' });
  const receipts = new Set<string>();
  let [turn, resumptions] = [0, 0];
  /** The next gateway, running or not. */
  const next = () => gateways[turn++ % gateways.length]?.ready.base ?? '';
  /** Reads until `read` says that the stream is complete. */
  const untilComplete = async (read: () => Promise<boolean>) => {
    while (!(await read().catch(() => false))) {
      resumptions += 1;
      await sleep(100);
    }
  };

  const completion = async (seed: number) => {
    const asked = { model: 'simulated', prompt: [300, 500], seed, max_tokens: TOKENS, stream: true, store: true };
    const [ids, data]: [string[], string[]] = [[], []];
    await untilComplete(async () => {
      const last = ids.length === 0 ? {} : { 'last-event-id': ids.at(-1) ?? '' };
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...last };
      const response = await fetch(`${next()}/v1/completions`, {
        method: 'POST',
        headers,
        body: JSON.stringify(asked),
      });
      if (response.status !== 200) return false;
      let rest = '';
      for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const events = (rest + text).split('\n\n');
        rest = events.pop() ?? '';
        for (const [, id, json] of events.map((event) => /^id: (\S+)\ndata: (.+)$/.exec(event) ?? [])) {
          if (id === undefined || json === undefined) continue;
          receipts.add(response.headers.get('x-receipt-id') ?? '');
          ids.push(id);
          data.push(json);
        }
      }
      return data.at(-1) === '[DONE]';
    });
    assert.deepEqual(
      ids.map((id) => Number(id.split(':')[1])),
      [...ids.keys()],
    );
    const chunks: Json[] = data.slice(0, -1).map((json) => JSON.parse(json));
    const text = chunks.map(({ choices }) => choices[0].text).join('');
    assert.equal(text, truthOf({ prompt: [300, 500], seed, tokens: TOKENS }));
  };

  const response = async () => {
    const events: Json[] = [];
    await untilComplete(async () => {
      const client = new OpenAI({ baseURL: `${next()}/v1`, apiKey: key, maxRetries: 0 });
      const id = events[0]?.response.id;
      const asked = {
        model: 'simulated',
        input: 'Hello',
        max_output_tokens: TOKENS,
        background: true,
        stream: true,
      } as const;
      const after = { stream: true, starting_after: events.length - 1 } as const;
      const { data, response } = await (id === undefined
        ? client.responses.create(asked)
        : client.responses.retrieve(id, after)
      ).withResponse();
      for await (const event of data) {
        receipts.add(response.headers.get('x-receipt-id') ?? '');
        events.push(event);
      }
      return events.at(-1)?.response?.status === 'incomplete';
    });
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      [...events.keys()],
    );
    const deltas = events.filter(({ type }) => type === 'response.output_text.delta').map(({ delta }) => delta);
    const { response } = events.at(-1);
    assert.equal(deltas.join(''), response.output[0].content[0].text);
    assert.equal(response.usage.output_tokens, TOKENS);
  };

  const streams = Array.from({ length: STREAMS }, (_, seed) => [completion(seed), response()]).flat();
  const all = Promise.all(streams);
  // A client that has no event yet does not know its answer, and would ask for another one.
  await until(() => receipts.size === 2 * STREAMS, { what: 'all streams have begun', limitMs: 60_000 });
  for (const gateway of gateways.slice(0, 2)) {
    await Promise.race([sleep(KILL_MS), all]);
    await gateway.kill();
  }
  await all;
  assert.ok(resumptions >= STREAMS, `${resumptions} resumptions`);
  assert.equal(receipts.size, 2 * STREAMS);
  const used = async () => (await store.answers.usage({ since: '2000-01-01', keyId: stored.id }))[0];
  await until(async () => ((await used())?.requests ?? 0) >= 2 * STREAMS, { what: 'all receipts are counted' });
  const { requests, completionTokens, promptTokens } = (await used()) ?? assert.fail();
  assert.deepEqual([requests, completionTokens], [2 * STREAMS, 2 * STREAMS * TOKENS]);
  const reserved = () => store.tokens.used({ keyId: stored.id, day: '2000-01-01' });
  await until(async () => (await reserved()) === promptTokens + completionTokens, { what: 'no tokens are reserved' });
});
