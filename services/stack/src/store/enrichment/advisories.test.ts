import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AdvisoryRecord, KnownExploited } from '@strata/advisories';
import fc from 'fast-check';
import { openStore, type Store } from '../index.ts';
import { kept, onEach, plansOf, postgres } from '../test/backends.ts';
import { AdvisoryTable } from './advisories.ts';

const [ONE, TWO, GHSA] = ['CVE-2024-0001', 'CVE-2024-0002', 'GHSA-2222-2222-2222'] as const;

const claimOn = (product: string): AdvisoryRecord['claims'][number] => ({
  ...{ kind: 'product', products: [product], scheme: 'dotted', affected: [{}], affectedVersions: [], unaffected: [] },
  ...{ otherwise: 'unknown', platforms: [] },
});

const record = (id: string, more: Partial<AdvisoryRecord> = {}): AdvisoryRecord => ({
  ...{ source: 'nvd', id, aliases: [], state: 'published', title: null, summary: `${id} described`, cvss: [] },
  ...{ published: '2024-01-01T00:00:00.000Z', modified: '2024-01-02T00:00:00.000Z', severity: null },
  ...{ claims: [claimOn('cpe:f5:nginx')], url: `https://nvd.example/${id}` },
  ...more,
});

const exploited = (cve: string): KnownExploited => ({
  ...{ cve, dateAdded: '2024-01-01', dueDate: null, isRansomware: false, requiredAction: 'Patch it' },
});

const changedSince = async (advisories: AdvisoryTable, seq: number) =>
  (await advisories.changesSince(seq, 10)).map(({ advisoryId }) => advisoryId);
const readOne = async (advisories: AdvisoryTable, id: string) => (await advisories.read([id]))[0];

onEach(kept, 'stored advisories', (backend, test) => {
  test('are exploited until the complete list lacks them; a part of it takes nothing back', async ({ advisories }) => {
    const left = async () => (await advisories.counts()).knownExploited;
    await advisories.putExploited([exploited(ONE), exploited(TWO)]);
    await advisories.putScores([{ cve: ONE, epss: 0.5, percentile: 0.9 }]);
    await advisories.putRecords([record(ONE)]);
    assert.partialDeepStrictEqual(await readOne(advisories, ONE), { score: { epss: 0.5 }, exploited: { cve: ONE } });
    await advisories.putExploited([exploited('CVE-2024-0003')], { isPart: true });
    assert.equal(await left(), 3);
    await advisories.putExploited([exploited(ONE)], { named: [TWO] });
    assert.equal(await left(), 2);
  });

  test('are not replaced by an earlier version', async ({ advisories }) => {
    const put = (month: number, ...summaries: string[]) => {
      const modified = `2024-0${month}-01T00:00:00.000Z`;
      return advisories.putRecords(summaries.map((summary) => record(ONE, { modified, summary })));
    };
    const summary = async () => (await readOne(advisories, ONE))?.advisory.summary;
    await put(3, 'later');
    await put(2, 'earlier');
    assert.equal(await summary(), 'later');
    await put(3, 'the first of a page', 'the last of it');
    assert.equal(await summary(), 'the last of it', 'the same day');
  });

  test('do not change when the same is put twice', async ({ advisories }) => {
    const put = async (epss: number) => {
      await advisories.putRecords([record(ONE), record(TWO)]);
      await advisories.putExploited([exploited(ONE)]);
      await advisories.putScores([{ cve: ONE, epss, percentile: 1 / 3 }]);
      return advisories.latestChange();
    };
    const latest = await put(0.123456789);
    assert.equal(await put(0.123456789), latest);
    assert.ok((await put(0.2)) > latest);
  });

  test('move a record to another vulnerability when its aliases do', async ({ advisories }) => {
    const putAliases = async (...aliases: string[]) => {
      const seq = await advisories.latestChange();
      await advisories.putRecords([record(GHSA, { source: 'ghsa', aliases })]);
      return changedSince(advisories, seq);
    };
    const aliases = async (id: string) => (await readOne(advisories, id))?.advisory.aliases;
    await advisories.putRecords([record(ONE)]);
    await putAliases(ONE);
    assert.deepEqual([await aliases(ONE), (await putAliases(TWO)).sort()], [[GHSA], [ONE, TWO]]);
    assert.deepEqual([await aliases(ONE), await aliases(TWO)], [[], [GHSA]]);
    // No record has this id or alias any more.
    assert.ok((await putAliases()).includes(TWO));
    assert.equal(await readOne(advisories, TWO), undefined);
    assert.deepEqual(await advisories.naming(['cpe:f5:nginx']), [ONE, GHSA]);
  });

  it('are rejected when every publisher has withdrawn them, and come out the same in any order', async () => {
    const records = [
      record(ONE, { state: 'rejected', claims: [] }),
      record(ONE, { source: 'cna', title: 'As the CNA has it' }),
      record(GHSA, { source: 'ghsa', aliases: [ONE], severity: 'high' }),
    ];
    const bodies = new Set<string>();
    for (const order of [records, records.toReversed()]) {
      await using store = await openStore(await backend.fresh());
      const { advisories } = store;
      for (const each of order) await advisories.putRecords([each]);
      bodies.add(JSON.stringify(await readOne(advisories, ONE)));
      await advisories.putRecords(order.map((each) => ({ ...each, state: 'rejected', claims: [] })));
      assert.partialDeepStrictEqual((await readOne(advisories, ONE))?.advisory, { state: 'rejected', claims: [] });
      assert.deepEqual(await advisories.naming(['cpe:f5:nginx']), []);
    }
    assert.equal(bodies.size, 1);
    assert.match([...bodies][0] ?? '', /"state":"published","title":"As the CNA has it"/);
  });

  it('are followed by their changes to the same that reading all gives', async () => {
    const cve = fc.integer({ min: 1, max: 6 }).map((n) => `CVE-2024-000${n}`);
    const ghsa = fc.constantFrom('GHSA-a', 'GHSA-b');
    const operation = fc.oneof(
      fc.record({ id: cve, summary: fc.constantFrom('a', 'b') }),
      fc.record({ id: ghsa, source: fc.constant('ghsa' as const), aliases: fc.tuple(cve) }),
      fc.record({ cves: fc.uniqueArray(cve) }),
      fc.record({ cve, epss: fc.constantFrom(0.1, 0.2), percentile: fc.constant(0) }),
      fc.record({ limit: fc.integer({ min: 1, max: 3 }) }),
    );
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
      await using store = await openStore(await backend.fresh());
      const { advisories } = store;
      const followed = new Map<string, string>();
      const put = { nvd: new Set<string>(), ghsa: new Set<string>(), scores: new Set<string>() };
      let seq = 0;
      const follow = async (limit: number) => {
        const changes = await advisories.changesSince(seq, limit);
        for (const change of changes) {
          assert.ok(change.seq > seq);
          seq = change.seq;
          const now = await readOne(advisories, change.advisoryId);
          if (now) followed.set(change.advisoryId, JSON.stringify(now));
          else followed.delete(change.advisoryId);
        }
        return changes.length;
      };
      for (const each of operations) {
        if ('id' in each) put['source' in each ? each.source : 'nvd'].add(each.id);
        if ('epss' in each) put.scores.add(each.cve);
        if ('id' in each) await advisories.putRecords([record(each.id, each)]);
        else if ('cves' in each) await advisories.putExploited(each.cves.map(exploited));
        else if ('cve' in each) await advisories.putScores([each]);
        else await follow(each.limit);
      }
      while ((await follow(2)) > 0);
      const all = await advisories.read([1, 2, 3, 4, 5, 6].map((n) => `CVE-2024-000${n}`));
      assert.deepEqual(followed, new Map(all.map((each) => [each.advisory.id, JSON.stringify(each)])));
      assert.equal(await advisories.latestChange(), seq);
      const bySource = [put.nvd, put.ghsa].map(({ size }, n) => (size > 0 ? { [n ? 'ghsa' : 'nvd']: size } : {}));
      const read = [...all, ...(await advisories.read(['GHSA-a', 'GHSA-b']))];
      const counts = { advisories: read.length, scores: put.scores.size, bySource: Object.assign({}, ...bySource) };
      assert.partialDeepStrictEqual(await advisories.counts(), counts);
    });
    await fc.assert(property, { numRuns: backend === postgres ? 8 : 60 });
  });
});

onEach(kept, 'stored advisories', (_backend, test, onFresh) => {
  onFresh('never reuse a number of the order, not even after a restart', async (url) => {
    let last = 0;
    for (const summary of ['a', 'b', 'c']) {
      await using store = await openStore(url);
      await store.advisories.putRecords([record(ONE, { summary })]);
      const before = last;
      last = await store.advisories.latestChange();
      assert.ok(last > before);
    }
  });

  test('are found by keys, whatever their number', async ({ advisories }, url) => {
    const numbers = Array.from({ length: 300 }, (_, i) => i);
    const records = numbers.map((i) => record(`CVE-2024-1${i}`, { claims: [claimOn(`cpe:f5:nginx-${i}`)] }));
    await advisories.putRecords(records);
    await advisories.putScores(numbers.map((i) => ({ cve: `CVE-2024-1${i}`, epss: 0.5, percentile: 0.5 })));
    const plans = await plansOf(url, async (db) => {
      const table = new AdvisoryTable(db);
      await table.putRecords([record('CVE-2024-10', { summary: 'changed' }), record(ONE)]);
      await table.putScores([{ cve: 'CVE-2024-10', epss: 0.1, percentile: 0.1 }]);
      await table.naming(['cpe:f5:nginx', 'cpe:x:y']);
      await table.read(['CVE-2024-10', 'CVE-2024-11']);
      await table.changesSince(5, 10);
      await table.latestChange();
      await table.counts();
    });
    const asked = plans.filter(({ sql }) => /^(select|update|delete)/i.test(sql));
    assert.ok(asked.length >= 20);
    for (const { sql, scans, isSorted, text } of asked) {
      // The newest change is the last of its table.
      const large = scans.filter((scan) => !/^(counters|known_exploited)\b/.test(scan));
      if (!/order by "seq" desc limit/.test(sql)) assert.deepEqual(large, [], `${sql}\n${text}`);
      assert.equal(isSorted, false, `${sql}\n${text}`);
    }
  });
});

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
const lease = (owner: string, ms = 1_000) => ({ owner, until: at(ms) });
const begin = ({ sources }: Store, owner: string, ms = 0) =>
  sources.begin('nvd', { startedAt: at(ms), now: at(ms), lease: lease(owner, ms + 1_000) });
const sourceAt = async ({ sources }: Store, ms = 0) => (await sources.list(at(ms)))[0];
const stateAt = async (store: Store, ms = 0) => (await sourceAt(store, ms))?.state;
const step = { cursor: { at: 1 }, read: 10, skipped: 2, skippedExample: 'x: no JSON' };
const end = { cursor: { done: true }, finishedAt: at(5), nextAt: at(100) };
const failure = { error: 'HTTP 410', failures: 3, nextAt: at(50), read: 0, skipped: 0, skippedExample: null };

onEach(kept, 'leases of sources', (_backend, test) => {
  test('are held by one owner until they end', async (store) => {
    const { sources } = store;
    assert.ok(await begin(store, 'a'));
    assert.equal(await begin(store, 'b', 999), undefined);
    assert.ok(await begin(store, 'a'), 'the owner may begin again');
    assert.ok(await sources.renew('nvd', lease('a', 5_000)));
    assert.equal(await begin(store, 'b', 1_500), undefined);
    assert.ok(await begin(store, 'b', 5_000));
    // The previous owner can no longer write.
    const late = lease('a');
    assert.deepEqual([await sources.renew('nvd', late), await sources.step('nvd', step, late)], [false, false]);
    const ended = [await sources.finish('nvd', end, late), await sources.stop('nvd', failure, late)];
    assert.deepEqual(ended, [false, false]);
    assert.partialDeepStrictEqual(await sourceAt(store, 5_001), { state: 'syncing', cursor: null });
  });

  test('are free after the end, complete or not', async (store) => {
    await begin(store, 'a');
    assert.ok(await store.sources.finish('nvd', end, lease('a')));
    assert.ok(await begin(store, 'b'));
    assert.ok(await store.sources.stop('nvd', failure, lease('b')));
    assert.ok(await begin(store, 'c'));
  });

  test('read as interrupted without their process, and never as complete before the end', async (store) => {
    assert.deepEqual(await store.sources.list(at(0)), []);
    await begin(store, 'a');
    assert.deepEqual([await stateAt(store, 999), await stateAt(store, 1_000)], ['syncing', 'interrupted']);
    await store.sources.step('nvd', step, lease('a', 2_000));
    const running = { state: 'syncing', cursor: { at: 1 }, finishedAt: null };
    assert.partialDeepStrictEqual(await sourceAt(store, 1_999), running);
    assert.equal(await stateAt(store, 2_000), 'interrupted');
    await store.sources.finish('nvd', end, lease('a'));
    const complete = { state: 'complete', finishedAt: at(5), nextAt: at(100) };
    assert.partialDeepStrictEqual(await sourceAt(store, 9_999), complete);
  });

  test('leave states that report a failure until the next success', async (store) => {
    await begin(store, 'a');
    await store.sources.step('nvd', step, lease('a'));
    await store.sources.stop('nvd', { ...failure, read: 10, skipped: 2, skippedExample: 'x' }, lease('a'));
    const failed = { state: 'failed', error: 'HTTP 410', failures: 3, cursor: { at: 1 }, nextAt: at(50) };
    assert.partialDeepStrictEqual(await sourceAt(store), failed);
    assert.equal((await begin(store, 'b'))?.failures, 3);
    await store.sources.finish('nvd', end, lease('b'));
    assert.partialDeepStrictEqual(await sourceAt(store), { state: 'complete', error: null, failures: 0 });
  });

  test('continue the counts of an interrupted sync, and restart them in a new one', async (store) => {
    await begin(store, 'a');
    await store.sources.step('nvd', step, lease('a'));
    // Killed; another process continues.
    assert.partialDeepStrictEqual(await begin(store, 'b', 2_000), step);
    await store.sources.finish('nvd', end, lease('b'));
    // The figures of the last sync are reported until this one has read something.
    assert.partialDeepStrictEqual(await begin(store, 'c', 3_000), { read: 0, skipped: 0, skippedExample: null });
    assert.partialDeepStrictEqual(await sourceAt(store, 3_000), { read: 10, state: 'syncing' });
    // Killed before that: still a separate sync.
    assert.deepEqual([await stateAt(store, 9_000), (await begin(store, 'd', 9_000))?.read], ['interrupted', 0]);
    await store.sources.finish('nvd', end, lease('d'));
    assert.partialDeepStrictEqual(await sourceAt(store), { read: 10, skipped: 2 });
    // Failed before that: nothing is read, and no counts are continued.
    await begin(store, 'e', 10_000);
    await store.sources.stop('nvd', failure, lease('e'));
    assert.equal((await begin(store, 'f', 11_000))?.read, 0);
  });
});

onEach(kept, 'leases of sources', (backend, _test, onFresh) => {
  onFresh('go to one of many that ask at once, and hold for other processes', async (url) => {
    await using one = await openStore(url);
    await using two = await openStore(url);
    // A transaction on a file blocks the event loop of another that waits for it.
    const other = backend === postgres ? two : one;
    const first = await Promise.all(['a', 'b', 'c', 'd'].map((owner, i) => begin(i % 2 ? one : other, owner)));
    assert.equal(first.filter((begun) => begun !== undefined).length, 1);
    assert.deepEqual([await begin(one, 'e', 999), await begin(two, 'e', 999)], [undefined, undefined]);
    assert.ok(await begin(two, 'e', 1_000));
    for (const owner of ['a', 'b', 'c', 'd']) assert.equal(await one.sources.renew('nvd', lease(owner)), false);
  });
});
