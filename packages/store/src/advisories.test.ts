import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AdvisoryRecord, KnownExploited } from '@strata/advisories';
import fc from 'fast-check';
import { AdvisoryTable } from './advisories.ts';
import { openStore } from './index.ts';
import { databases, kept, onEach, postgres } from './test/places.ts';
import { plansOf } from './test/plans.ts';

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

onEach(databases, 'stored advisories', (place, test) => {
  test('are exploited until the complete list lacks them; a part of it takes nothing back', async ({ advisories }) => {
    const left = async () => (await advisories.counts()).knownExploited;
    await advisories.putExploited([exploited(ONE), exploited(TWO)]);
    await advisories.putExploited([exploited('CVE-2024-0003')], { isPart: true });
    assert.equal(await left(), 3);
    await advisories.putExploited([exploited(ONE)], { named: [TWO] });
    assert.equal(await left(), 2);
  });

  test('are not replaced by an earlier version', async ({ advisories }) => {
    const put = (month: number, ...summaries: string[]) =>
      advisories.putRecords(
        summaries.map((summary) => record(ONE, { modified: `2024-0${month}-01T00:00:00.000Z`, summary })),
      );
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
    assert.deepEqual(await aliases(ONE), [GHSA]);
    assert.deepEqual((await putAliases(TWO)).sort(), [ONE, TWO]);
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
      await using store = await openStore(await place.fresh());
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

  test('have exploitation and scores whichever comes first, until they are taken back', async ({ advisories }) => {
    await advisories.putExploited([exploited(ONE), exploited(TWO)]);
    await advisories.putScores([{ cve: ONE, epss: 0.5, percentile: 0.9 }]);
    assert.deepEqual(await advisories.read([ONE]), []);
    const before = await advisories.latestChange();
    await advisories.putRecords([record(ONE)]);
    assert.deepEqual(await changedSince(advisories, before), [ONE]);
    const found = await readOne(advisories, ONE);
    assert.deepEqual([found?.score, found?.exploited?.cve], [{ epss: 0.5, percentile: 0.9 }, ONE]);
    const seq = await advisories.latestChange();
    await advisories.putExploited([exploited(TWO)]);
    assert.deepEqual(await changedSince(advisories, seq), [ONE]);
    assert.equal((await readOne(advisories, ONE))?.exploited, null);
  });

  it('are followed by their changes to the same that reading all gives', async () => {
    const cve = fc.integer({ min: 1, max: 6 }).map((n) => `CVE-2024-000${n}`);
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('record' as const), id: cve, word: fc.constantFrom('a', 'b') }),
      fc.record({ kind: fc.constant('alias' as const), id: fc.constantFrom('GHSA-a', 'GHSA-b'), cve }),
      fc.record({ kind: fc.constant('kev' as const), cves: fc.uniqueArray(cve) }),
      fc.record({ kind: fc.constant('score' as const), cve, epss: fc.constantFrom(0.1, 0.2) }),
      fc.record({ kind: fc.constant('follow' as const), limit: fc.integer({ min: 1, max: 3 }) }),
    );
    const property = fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
      await using store = await openStore(await place.fresh());
      const { advisories } = store;
      const followed = new Map<string, string>();
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
        if (each.kind === 'record') await advisories.putRecords([record(each.id, { summary: each.word })]);
        else if (each.kind === 'alias')
          await advisories.putRecords([record(each.id, { source: 'ghsa', aliases: [each.cve] })]);
        else if (each.kind === 'kev') await advisories.putExploited(each.cves.map(exploited));
        else if (each.kind === 'score') await advisories.putScores([{ cve: each.cve, epss: each.epss, percentile: 0 }]);
        else await follow(each.limit);
      }
      while ((await follow(2)) > 0);
      const all = await advisories.read([1, 2, 3, 4, 5, 6].map((n) => `CVE-2024-000${n}`));
      const expected = all.map((each) => [each.advisory.id, JSON.stringify(each)]);
      assert.deepEqual([...followed].sort(), expected.sort());
      assert.equal(await advisories.latestChange(), seq);
    });
    await fc.assert(property, { numRuns: place === postgres ? 8 : 60 });
  });
});

onEach(kept, 'stored advisories', ({ fresh }, test) => {
  it('never reuse a number of the order, not even after a restart', async () => {
    const url = await fresh();
    const numbers: number[] = [];
    for (const summary of ['a', 'b', 'c']) {
      await using store = await openStore(url);
      await store.advisories.putRecords([record(ONE, { summary })]);
      numbers.push(await store.advisories.latestChange());
    }
    const increasing = [...new Set(numbers)].sort((a, b) => a - b);
    assert.deepEqual(numbers, increasing);
  });

  test('are found by keys, whatever their number', async ({ advisories }, url) => {
    const numbers = Array.from({ length: 300 }, (_, i) => i);
    await advisories.putRecords(
      numbers.map((i) => record(`CVE-2024-1${i}`, { claims: [claimOn(`cpe:f5:nginx-${i}`)] })),
    );
    await advisories.putScores(numbers.map((i) => ({ cve: `CVE-2024-1${i}`, epss: 0.5, percentile: 0.5 })));
    const plans = await plansOf(url, async (db) => {
      const table = new AdvisoryTable(db);
      await table.putRecords([record('CVE-2024-10', { summary: 'changed' }), record(ONE)]);
      await table.putScores([{ cve: 'CVE-2024-10', epss: 0.1, percentile: 0.1 }]);
      await table.naming(['cpe:f5:nginx', 'cpe:x:y']);
      await table.read(['CVE-2024-10', 'CVE-2024-11']);
      await table.changesSince(5, 10);
      await table.latestChange();
    });
    const asked = plans.filter(({ sql }) => /^(select|update|delete)/i.test(sql));
    assert.ok(asked.length >= 20);
    for (const { sql, scans, isSorted, text } of asked) {
      // The newest change is the last of its table.
      if (!/order by "seq" desc limit/.test(sql)) assert.deepEqual(scans, [], `${sql}\n${text}`);
      assert.equal(isSorted, false, `${sql}\n${text}`);
    }
  });
});
