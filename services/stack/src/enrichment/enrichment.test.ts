// The schedule of the sources of advisories.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { pino } from 'pino';
import { EventBus } from '../events.ts';
import { runEnrichment } from './enrichment.ts';
import { type AdvisorySource, RecordBatch, SourceError, type SourceName } from './source.ts';
import { enrichmentState } from './state.ts';
import { stoppedAfter } from './test/cut-off.ts';
import { type Ground, openGround, START } from './test/syncing.ts';

const sourceThat = (name: SourceName, sync: AdvisorySource['sync']): AdvisorySource => ({ name, everyMs: 1, sync });

async function keepUntil(ground: Ground, sources: readonly AdvisorySource[], isDone: () => boolean): Promise<void> {
  const stopping = new AbortController();
  const logger = pino({ level: 'silent' });
  const events = new EventBus(logger);
  events.subscribe('advisories-stored', () => isDone() && stopping.abort());
  const deps = { ...ground.deps, sources, logger, events, sleep: () => setImmediate() };
  await runEnrichment(deps, AbortSignal.any([stopping.signal, AbortSignal.timeout(20_000)]));
}

const openAlone = (clock = { at: START }) => openGround(clock, undefined as never);

it('keeping advisories fresh skips no source, however often another is due', async () => {
  const clock = { at: START };
  await using ground = await openAlone(clock);
  const order: SourceName[] = [];
  const source = (name: SourceName) =>
    sourceThat(name, async function* () {
      order.push(name);
      clock.at += 10_000;
      yield new RecordBatch().step(null);
    });
  await keepUntil(ground, [source('kev'), source('epss'), source('nvd')], () => order.length === 6);
  assert.deepEqual(order, ['kev', 'epss', 'nvd', 'kev', 'epss', 'nvd']);
});
it('keeping advisories fresh continues with the remaining sources when one fails, whatever its error', async () => {
  await using ground = await openAlone();
  let isRead = false;
  const failing = (name: SourceName, error: Error) =>
    sourceThat(name, async function* () {
      yield new RecordBatch().step(null);
      throw error;
    });
  const broken = [failing('kev', new SourceError('offline')), failing('epss', new TypeError('a secret of ours'))];
  const healthy = sourceThat('nvd', async function* () {
    isRead = true;
    yield new RecordBatch().step({ at: 1 });
  });
  await keepUntil(ground, [...broken, healthy], () => isRead);
  const { sources } = await enrichmentState({ store: ground.store, sourceNames: ['kev', 'epss', 'nvd', 'osv'] });
  const all = sources.map(({ name, state, error }) => `${name} ${state} ${error}`).join();
  assert.equal(all, 'kev failed offline,epss failed internal error,nvd interrupted null,osv never null,cve off null');
});

for (const [when, isAtEnd] of Object.entries({ 'in the middle': false, 'at the very end': true }))
  it(`a sync whose lease another process has taken ends as busy and writes no more of its position (${when})`, async () => {
    await using ground = await openAlone();
    const lease = { owner: 'other', until: new Date(Date.now() + 600_000) };
    const later = new Date(Date.now() + 300_000);
    const slow = sourceThat('nvd', async function* () {
      yield new RecordBatch().step({ at: 1 });
      assert.ok(await ground.store.sources.begin('nvd', { startedAt: later, now: later, lease }));
      if (isAtEnd) return { at: 2 };
      yield new RecordBatch().step({ at: 2 });
      return assert.fail('it goes on');
    });
    assert.deepEqual(await ground.run(slow), { kind: 'busy' });
    const { state, cursor, error } = await ground.stored('nvd');
    assert.deepEqual([state, cursor, error], ['syncing', { at: 1 }, null]);
  });

it('a sync of a term that is over is interrupted, not failed, and the next one goes on at once', async () => {
  await using ground = await openAlone();
  const { store } = ground;
  const hold = (await store.schedulerLock.tryTake()) ?? assert.fail();
  const scored = (cursor: number) => {
    const scores = [{ cve: `CVE-2026-000${cursor}`, epss: 0.5, percentile: 0.5 }];
    return { scores, read: 1, skipped: 0, problem: null, cursor };
  };
  const source = sourceThat('epss', async function* () {
    yield scored(1);
    // Another process has become the scheduler.
    await store.schedulerLock.tryTake();
    yield scored(2);
    return null;
  });
  const end = await ground.run(source, { store: { ...store, ...store.inTerm(hold.term) } });
  assert.deepEqual(end, { kind: 'interrupted', read: 1, skipped: 0 });
  const { state, cursor, failures, error, nextAt } = await ground.stored('epss');
  assert.deepEqual([state, cursor, failures, error], ['interrupted', 1, 0, null]);
  assert.ok(nextAt && nextAt.getTime() <= START);
});
it('a sync closes what its source holds open, however it ends', async () => {
  await using ground = await openAlone();
  let isClosed = false;
  const source = sourceThat('osv', async function* () {
    try {
      yield new RecordBatch().step({ at: 1 });
      yield new RecordBatch().step({ at: 2 });
    } finally {
      isClosed = true;
    }
  });
  const end = await ground.run(source, stoppedAfter(1));
  assert.deepEqual([end.kind, isClosed], ['interrupted', true]);
});
