// Several processes on one database of a gateway: receipts in order, one gateway at a time.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { guardOf } from '@strata/db';
import { connect, terminate, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { taken } from '../../../../tests/support/database/locks.ts';
import { trafficOf } from '../../../../tests/support/database/round-trips.ts';
import { AnswerTable } from './answers.ts';
import { openStore } from './store.ts';
import { databaseOf, kept, onEach, postgres } from './test/backends.ts';

const receipt = (id: string) => ({ id, keyId: 'key_a', body: '{}' });
const superseded = { code: 'superseded' };
const used = { model: 'm', day: '2026-01-01', promptTokens: 1, cachedTokens: 0, completionTokens: 1 };
const usagesOf = (n: number) => Array.from({ length: n }, (_, i) => ({ ...used, keyId: `k${i}` }));

onEach([postgres], 'several stores', (_backend, test) => {
  test('show no receipt before one that has a smaller number', async (one, url) => {
    await using two = await openStore(url);
    await one.answers.keep([receipt('rwr_1')]);
    // Its number is given, and it waits for another transaction with its id.
    const inserting = "begin; insert into answer_receipts (id, key_id, body) values ('rwr_2', 'key_a', '{}')";
    await using beside = await connect(url, inserting);
    const slow = one.answers.keep([receipt('rwr_2')]);
    await untilWaiting(url, 1);
    const fast = two.answers.keep([receipt('rwr_3')]);
    await Promise.race([fast, untilWaiting(url, 2)]);
    const shown = await one.answers.unentered(10);
    const entering = two.answers.enter(shown.at(-1)?.seq ?? 0, []);
    await beside.query('rollback');
    await Promise.all([slow, fast, entering]);
    const later = await one.answers.unentered(10);
    assert.deepEqual([...shown, ...later].map(({ id }) => id).sort(), ['rwr_1', 'rwr_2', 'rwr_3']);
  });
});

onEach(kept, 'the lock of the gateway', (_backend, test) => {
  test('is held by one, whatever else it does, and by another when that one is killed', async (store, url) => {
    const program = `import(${JSON.stringify(path.join(import.meta.dirname, 'store.ts'))}).then(async ({ openStore }) => {
      globalThis.held = await (await openStore(${JSON.stringify(url)})).gatewayLock.tryTake();
      console.log('held ' + held.term); setInterval(() => {}, 1_000); })`;
    const holder = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(holder.stdout, 'data');
    await store.keys.create({ tier: 'free' });
    assert.deepEqual([String(line), await store.gatewayLock.tryTake()], ['held 1\n', undefined]);
    holder.kill('SIGKILL');
    await using held = await taken(store.gatewayLock);
    assert.deepEqual([held.term, held.lost.aborted, await store.gatewayLock.lastTerm()], [2, false, 2]);
  });
});

onEach([postgres], 'a lock on a server', (_backend, test) => {
  test('that a gateway has lost lets it write until another begins, and nothing more after that', async (one, url) => {
    await using two = await openStore(url);
    let { term } = await taken(one.gatewayLock);
    const early = one.inGatewayTerm(() => term);
    const first = await early.answers.keep([receipt('rcp_1')]);
    await terminate(url, "application_name = 'strata gateway'");
    await early.answers.enter(first, []);
    await using next = await taken(two.gatewayLock);
    await assert.rejects(early.answers.keep([receipt('rcp_2')]), superseded);
    await assert.rejects(early.answers.enter(first + 5, []), superseded);
    await assert.rejects(early.reputations.put('peer', '{}'), superseded);
    assert.equal((await one.reputations.all()).size, 0);
    term = next.term;
    await early.reputations.put('peer', '{}');
  });
});

onEach([postgres], 'a batch', (_backend, _test, onFresh) => {
  onFresh('is written in two round trips whatever its size, one of them under the lock', async (url) => {
    await using db = databaseOf(url);
    const answers = new AnswerTable(
      db,
      guardOf('gateway-term', () => 0),
    );
    for (const n of [1, 8, 64]) {
      const receipts = Array.from({ length: n }, (_, i) => receipt(`rwr_${n}-${i}`));
      for (const write of [() => answers.keep(receipts), () => answers.enter(n, usagesOf(n))])
        assert.deepEqual((await trafficOf(write)).trips, [2, 1], `${n}`);
    }
  });
});
