// A scheduler whose term is over in the midst of a sync: it writes nothing more, and the next one goes on at once.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { it } from 'node:test';
import { openStore } from '@strata/store';
import { runSource } from './run-source.ts';
import type { AdvisorySource, Step } from './source.ts';

const scoreStep = (number: number): Step => ({
  scores: [{ cve: `CVE-2026-000${number}`, epss: 0.5, percentile: 0.5 }],
  ...{ read: 1, skipped: 0, problem: null, cursor: number },
});

const nobody = () => assert.fail('it asks nobody');

it('a sync of a term that is over is interrupted, not failed', async () => {
  await using store = await openStore('sqlite::memory:');
  const hold = await store.schedulerLock.tryTake();
  assert.ok(hold);
  const source: AdvisorySource = {
    ...{ name: 'epss', everyMs: 3_600_000 },
    async *sync() {
      yield scoreStep(1);
      // Another process has become the scheduler.
      await store.schedulerLock.tryTake();
      yield scoreStep(2);
      return null;
    },
  };
  const end = await runSource(source, {
    store: { ...store, ...store.inTerm(hold.term) },
    fetcher: { fetch: nobody, download: nobody, [Symbol.asyncDispose]: async () => {} },
    ...{ now: () => new Date(), directory: tmpdir(), signal: new AbortController().signal },
  });
  assert.deepEqual(end, { kind: 'interrupted', read: 1, skipped: 0 });
  const [known] = await store.sources.list(new Date());
  assert.deepEqual(
    [known?.state, known?.cursor, known?.failures, known?.error],
    ['interrupted', 1, 0, null],
    'the next one goes on behind the first step',
  );
  assert.ok((known?.nextAt?.getTime() ?? Number.POSITIVE_INFINITY) <= Date.now(), 'and at once');
});
