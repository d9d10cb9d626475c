// Work of one process at a time: another one takes over as soon as it ends, and the previous one can write nothing.
import assert from 'node:assert/strict';
import { BEGIN_WRITING, sessionLock } from '@strata/db';
import { connect, terminate, untilWaiting } from '../../../../tests/support/database/connections.ts';
import { taken, untilLost } from '../../../../tests/support/database/locks.ts';
import { freePort } from '../../../../tests/support/free-port.ts';
import { openStore } from './index.ts';
import { SCHEDULER } from './store.ts';
import { databaseOf, exec, failsWith, file, kept, onEach, postgres } from './test/backends.ts';
import { alert, anomaly, streamEvent } from './test/records.ts';

const superseded = { code: 'superseded' };

onEach(kept, 'the scheduler', (_backend, test) => {
  test('of an earlier term writes nothing more, whatever it writes', async (store) => {
    const quiet = { quietMs: 1 };
    await store.stream.begin(0, 1);
    const first = await taken(store.schedulerLock);
    const early = store.inTerm(first.term);
    assert.ok(await early.signals.addAlert(alert('one'), quiet));
    await early.stream.append([streamEvent(5)], { from: 0, to: 1 });
    await first[Symbol.asyncDispose]();
    await using second = await taken(store.schedulerLock);
    assert.ok(second.term > first.term);
    const payload = { advisoryId: 'CVE-1', reason: 'published' } as const;
    for (const write of [
      () => early.signals.addAlert(alert('two'), quiet),
      () => early.signals.addAnomaly(anomaly('an_1')),
      () => early.signals.setWatched({ seq: 1, day: 1 }),
      () => early.stream.append([streamEvent(6)], { from: 1, to: 2 }),
      () => early.stream.prune(100, 10),
      () => early.advisories.addEvent('x', { kind: 'advisory-touched', at: new Date(0), domain: '', payload }),
      () => early.advisories.putExploited([]),
      () => early.notifications.record([], { now: new Date(0) }),
      () => early.notifications.moveTo({ seq: 1, mention: 0 }),
      () => early.advisories.putScores([{ cve: 'CVE-1', epss: 1, percentile: 1 }]),
    ])
      await assert.rejects(write(), superseded, String(write));
    assert.deepEqual([await store.stream.cursor(), (await store.stream.since(0, 10)).length], [1, 1]);
    assert.deepEqual([(await store.signals.alerts(9)).total, await store.signals.watched()], [1, undefined]);
    assert.ok(await store.inTerm(second.term).signals.addAlert(alert('two'), quiet));
  });

  test('counts for followers what no log contains: alerts, revoked keys, feeds', async (store) => {
    const before = await store.inspection.heads();
    assert.deepEqual(new Set(Object.values(before)), new Set([0]), 'of an empty store');
    for (let times = 0; times < 2; times += 1) await store.signals.addAlert(alert('one'), { quietMs: 1 });
    await store.signals.addAnomaly(anomaly('an_1'));
    const { stored } = await store.keys.create({ tier: 'free' });
    for (let times = 0; times < 2; times += 1) await store.keys.revoke(stored.id);
    await store.feeds.add([{ url: 'https://f.example/' }], new Date(0));
    assert.deepEqual(await store.inspection.heads(), { ...before, alerts: 1, events: 1, keys: 1, feeds: 1 });
  });
});

onEach([file], 'a lock of a file', (_backend, test) => {
  test('is free again if its term could not begin', async (store, url) => {
    await exec(url, 'alter table counters rename to away');
    await assert.rejects(store.exportLock.tryTake());
    await exec(url, 'alter table away rename to counters');
    assert.equal((await store.exportLock.tryTake())?.term, 1);
  });
});

onEach([postgres], 'a lock on a server', (_backend, test, onFresh) => {
  test('is taken by one of those that ask at once, and is independent of other schemas', async (one, url) => {
    await exec(url, 'create schema other');
    await using two = await openStore(url);
    const [a, b] = await Promise.all([one, two].map((store) => store.schedulerLock.tryTake()));
    assert.deepEqual([(a ?? b)?.term, a && b], [1, undefined], 'one of them has it');
    await using _held = a ?? b;
    await using apart = await openStore(`${url}?options=-c%20search_path%3Dother`);
    await using hold = await taken(apart.schedulerLock);
    assert.equal(hold.term, 1);
  });

  test('is reported as lost when the server ends the session, and another has it then', async (one, url) => {
    await using two = await openStore(url);
    const held = await taken(one.schedulerLock);
    assert.equal(await two.schedulerLock.tryTake(), undefined);
    await terminate(url, "pid in (select pid from pg_locks where locktype = 'advisory' and granted)");
    await untilLost(held);
    await using next = await taken(two.schedulerLock);
    assert.ok(next.term > held.term);
    assert.equal(await one.schedulerLock.tryTake(), undefined, 'it asks again on a new connection');
  });

  onFresh('cannot be taken where the server is unreachable, or ends the connection', async (url) => {
    await using db = databaseOf(url);
    await using nowhere = sessionLock(db, SCHEDULER, `postgres://strata@127.0.0.1:${await freePort()}/x`);
    await assert.rejects(nowhere.tryTake(), failsWith('unreachable'));
    await using lock = sessionLock(db, SCHEDULER, url);
    await using other = await connect(url, BEGIN_WRITING);
    const taking = assert.rejects(lock.tryTake(), failsWith('connection-lost'));
    await untilWaiting(url);
    await terminate(url, "wait_event_type = 'Lock'");
    await taking;
    await other.query('rollback');
    await using hold = await taken(lock);
    assert.equal(hold.term, 1, 'a term that did not begin is not counted');
  });
});
