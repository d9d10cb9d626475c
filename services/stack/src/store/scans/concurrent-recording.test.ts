// Batches of several processes that are recorded at once: what waits for what. Stopped ones: concurrent-recording.full.test.ts.
import assert from 'node:assert/strict';
import { BEGIN_WRITING, IS_OUTDATED, writeInParallel } from '@strata/db';
import { CompiledQuery } from 'kysely';
import { backends, connect, untilWaiting } from '../../../../../tests/support/database/connections.ts';
import { until } from '../../../../../tests/support/until.ts';
import { databaseOf, onEach, postgres, rows } from '../test/backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, recordScan, scanOf } from '../test/scans.ts';

onEach([postgres], 'batches that are recorded at once', (_backend, test) => {
  test('wait for other writers, which wait for them', async (store, url) => {
    await store.domains.add(['x.com', 'y.com'], { source: 'test' });
    const record = (name: string, n: number) => recordScan(store, scanOf(name, day(n), GOOGLE), confirm);
    await using writing = await connect(url, BEGIN_WRITING);
    const first = record('x.com', 0);
    await untilWaiting(url);
    await writing.query('commit');
    await first;
    await using beside = await connect(url, "begin; select 1 from domains where name = 'x.com' for update");
    const second = record('x.com', 1);
    await untilWaiting(url);
    await record('y.com', 0);
    const other = writing.query(BEGIN_WRITING);
    await untilWaiting(url, 2);
    await beside.query('rollback');
    await Promise.all([second, other]);
  });

  test('lock their domains in one order, in whichever they are', async (store, url) => {
    const names = Array.from({ length: 50 }, (_, n) => `d${n}.com`);
    await store.domains.add(names, { source: 'test' });
    const first = 'id = (select min(id) from domains)';
    await using beside = await connect(url, `begin; select 1 from domains where ${first} for update`);
    const record = (some: readonly string[]) =>
      store.recordScans(
        some.map((name) => scanOf(name, day(0), GOOGLE)),
        confirm,
      );
    const recording = [record(names), record(names.toReversed())];
    await untilWaiting(url, 2);
    // Of which neither has locked one: they cannot wait for each other.
    const free = await rows(url, `select id from domains where not ${first} for update skip locked`);
    assert.equal(free.length, names.length - 1);
    await beside.query('rollback');
    const results = (await Promise.all(recording)).flat();
    assert.ok(results.every(({ status }) => status === 'fulfilled'));
  });

  test('add domains one batch after another, so that each scan is of its own', async (store, url) => {
    for (const [n, to] of [GOOGLE, MICROSOFT].entries())
      await recordScan(store, scanOf('known.com', day(n), to), confirm);
    await using beside = await connect(url, 'begin; select 1 from services for update');
    const namesOf = (who: string) => Array.from({ length: 5 }, (_, n) => `${who}${n}.com`);
    const record = (names: readonly string[], n: number) =>
      store.recordScans(
        names.map((name) => scanOf(name, day(n), MICROSOFT)),
        confirm,
      );
    const one = record([...namesOf('a'), 'known.com'], 2);
    await untilWaiting(url);
    let isRecorded = false;
    const two = record(namesOf('b'), 3).finally(() => {
      isRecorded = true;
    });
    await until(async () => isRecorded || (await backends(url, "wait_event_type = 'Lock'")).length > 1);
    assert.equal(isRecorded, false);
    await beside.query('rollback');
    const results = (await Promise.all([one, two])).flat();
    assert.ok(results.every(({ status }) => status === 'fulfilled'));
    const found = await rows(
      url,
      'select name, observed_at from scans join domains on domains.id = domain_id order by 2, 1',
    );
    const expected = [['known.com'], ['known.com'], [...namesOf('a'), 'known.com'], namesOf('b')].flatMap((names, n) =>
      names.map((name) => ({ name, observed_at: Date.parse(day(n)) })),
    );
    assert.deepEqual(found, expected);
  });

  test('do not wait to be numbered if their plan is outdated', async (store, url) => {
    await store.domains.add(['x.com'], { source: 'test' });
    await using beside = await connect(url, 'begin; lock table scans in share mode');
    const recording = recordScan(store, scanOf('x.com', day(0), GOOGLE), confirm);
    await untilWaiting(url);
    await using db = databaseOf(url);
    const write = (isOutdated: 'yes' | 'no') =>
      writeInParallel(db, {
        first: [CompiledQuery.raw(`select set_config('${IS_OUTDATED}', '${isOutdated}', true)`)],
        own: [],
        numbered: [CompiledQuery.raw('select 1 as number')],
        isAlone: false,
      });
    await write('yes');
    const waiting = write('no');
    await untilWaiting(url, 2);
    await beside.query('rollback');
    assert.deepEqual((await waiting).numbered[0].rows, [{ number: 1 }]);
    await recording;
  });
});
