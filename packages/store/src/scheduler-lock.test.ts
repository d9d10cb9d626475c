// Who does what must be done once: one process at a time, another as soon as that one is gone, and nothing of the one before after that.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore, type Store, type StoredAlert, type StoredAnomaly, type TermHold } from './index.ts';
import { kept, onEach, postgres, postgresServer, rows } from './test/places.ts';
import { startPostgres } from './test/postgres.ts';

const DEADLINE_MS = 60_000;

/** Tries until the lock is there. A term begins in the writers' turn, which a process that stands still may hold for 30 s. */
async function taken(store: Store): Promise<TermHold> {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline; await delay(20)) {
    const hold = await store.schedulerLock.tryTake().catch(() => undefined);
    if (hold) return hold;
  }
  throw new Error('nobody let go of the lock');
}

async function untilLost({ lost }: TermHold): Promise<void> {
  const signal = AbortSignal.any([lost, AbortSignal.timeout(DEADLINE_MS)]);
  while (!signal.aborted) await delay(20);
  assert.ok(lost.aborted, 'it heard that the lock is lost');
}

const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** A process of its own that wants the lock. */
function startProcess(url: string) {
  const program = path.join(import.meta.dirname, 'test/scheduler-process.ts');
  const child = spawn(process.execPath, [program, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const silence = () => delay(DEADLINE_MS, { value: 'nothing was said' }, { ref: false });
  const line = async () => (await Promise.race([lines.next(), silence()])).value as string | undefined;
  return { child, line };
}

const alert = (id: string): StoredAlert => ({
  ...{ id, at: new Date(0), subject: id, domain: null, provider: null, title: id, detail: id, ref: '/' },
  kind: 'anomaly',
  severity: 'low',
});
const facts = { value: 1, mean: 1, stddev: 1, sigma: 1, window_days: 1, samples: 1, chance: 1 };
const anomaly = (id: string): StoredAnomaly => ({
  ...{ id, at: new Date(0), subject: 'a.com', metric: 'm', severity: 'low' },
  subjectKind: 'domain',
  facts: { ...facts, direction: 'up' },
});
const streamed = (publishedUs: number) => ({
  ...{ publishedUs, type: 'migration', domain: null, providers: [], category: null },
  body: '{}',
});

onEach(kept, 'the scheduler', ({ fresh }) => {
  it('of an earlier term writes nothing more, whatever it writes', async () => {
    await using store = await openStore(await fresh());
    await store.stream.begin(0, 1);
    const first = await taken(store);
    const early = store.inTerm(first.term);
    assert.ok(await early.signals.addAlert(alert('al_1'), { quietMs: 1 }));
    await early.stream.append([streamed(5)], { from: 0, to: 1 });
    await first[Symbol.asyncDispose]();
    await using second = await taken(store);
    assert.ok(second.term > first.term);
    const told = { kind: 'advisory-touched', at: new Date(0), domain: '' } as const;
    for (const write of [
      () => early.signals.addAlert(alert('al_2'), { quietMs: 1 }),
      () => early.signals.addAnomaly(anomaly('an_1')),
      () => early.signals.setWatched({ seq: 1, day: 1 }),
      () => early.stream.append([streamed(6)], { from: 1, to: 2 }),
      () => early.stream.prune(100, 10),
      () => early.advisories.tell('x', { ...told, payload: { advisoryId: 'CVE-1', reason: 'published' } }),
      () => early.advisories.putExploited([]),
      () => early.advisories.putScores([{ cve: 'CVE-1', epss: 1, percentile: 1 }]),
    ])
      await assert.rejects(write(), { code: 'superseded' }, String(write));
    assert.deepEqual([await store.stream.cursor(), (await store.stream.since(0, 10)).length], [1, 1]);
    assert.deepEqual([(await store.signals.alerts(9)).total, await store.signals.watched()], [1, undefined]);
    assert.ok(await store.inTerm(second.term).signals.addAlert(alert('al_2'), { quietMs: 1 }));
  });

  it('tells followers of what no log tells: alerts, revoked keys, feeds', async () => {
    await using store = await openStore(await fresh());
    const before = await store.heads();
    assert.deepEqual(new Set(Object.values(before)), new Set([0]), 'of an empty store');
    await store.signals.addAlert(alert('al_1'), { quietMs: 1 });
    await store.signals.addAlert(alert('al_1'), { quietMs: 1 });
    await store.signals.addAnomaly(anomaly('an_1'));
    const { stored } = await store.keys.create({ tier: 'free' });
    await store.keys.revoke(stored.id);
    await store.keys.revoke(stored.id);
    await store.feeds.add([{ url: 'https://f.example/' }], new Date(0));
    assert.deepEqual(await store.heads(), { ...before, alerts: 1, events: 1, keys: 1, feeds: 1 });
  });
});

onEach([postgres], 'the lock of the scheduler', ({ fresh }) => {
  it('is held by one of several, and by another when that one stops', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const [a, b] = await Promise.all([one, two].map((store) => store.schedulerLock.tryTake()));
    const held = a ?? b;
    assert.ok(held && !(a && b), 'one of them has it');
    const other = a ? two : one;
    assert.equal(await other.schedulerLock.tryTake(), undefined);
    await held[Symbol.asyncDispose]();
    await using next = await taken(other);
    assert.equal(next.term, held.term + 1);
    assert.equal(next.lost.aborted, false);
  });

  it('of one schema is no other schema’s', async () => {
    const url = await fresh();
    const server = await postgresServer();
    await server.sql('create schema other', new URL(url).pathname.slice(1));
    await using one = await openStore(url);
    await using two = await openStore(`${url}?options=-c%20search_path%3Dother`);
    await using first = await taken(one);
    await using second = await taken(two);
    assert.deepEqual([first.term, second.term], [1, 1]);
  });

  it('is known to be lost when the server ends the session, and another has it then', async () => {
    const url = await fresh();
    await using one = await openStore(url);
    await using two = await openStore(url);
    const held = await taken(one);
    assert.equal(await two.schedulerLock.tryTake(), undefined);
    await rows(url, "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted");
    await untilLost(held);
    await using next = await taken(two);
    assert.ok(next.term > held.term);
    assert.equal(await one.schedulerLock.tryTake(), undefined, 'it asks again on a new connection');
  });

  it('goes from a process that was killed, or stands still, to another', async () => {
    const url = await fresh();
    await using store = await openStore(url);
    const killed = startProcess(url);
    assert.equal(await killed.line(), 'held 1');
    killed.child.kill('SIGKILL');
    const still = startProcess(url);
    assert.equal(await still.line(), 'held 2');
    still.child.kill('SIGSTOP');
    const startedAt = performance.now();
    await using held = await taken(store);
    console.log(`after ${Math.round(performance.now() - startedAt)} ms of standing still another has the lock`);
    assert.equal(held.term, 3);
    await store.inTerm(held.term).signals.setWatched({ seq: 3, day: 0 });
    // It does not know yet, and goes on where it stood.
    still.child.kill('SIGCONT');
    assert.deepEqual([await still.line(), await still.line()], ['refused', 'lost']);
    assert.deepEqual(await store.signals.watched(), { seq: 3, day: 0 });
  });

  it('comes back after the server was away', async () => {
    await using server = await startPostgres();
    const url = await server.fresh();
    await using store = await openStore(url);
    const held = await taken(store);
    await server.kill();
    await untilLost(held);
    await assert.rejects(store.schedulerLock.tryTake());
    await server.start();
    await using again = await taken(store);
    assert.ok(again.term > held.term);
  });
});
