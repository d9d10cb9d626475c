import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { AdvisoryRecord, KnownExploited } from '@strata/advisories';
import fc from 'fast-check';
import { AdvisoryTable } from './advisories.ts';
import { openStore } from './index.ts';
import { databases, kept, onEach, postgres } from './test/places.ts';
import { plansOf } from './test/plans.ts';

const claimOn = (product: string): AdvisoryRecord['claims'][number] => ({
  ...{ kind: 'product', products: [product], scheme: 'dotted', affected: [{}], affectedVersions: [], unaffected: [] },
  ...{ otherwise: 'unknown', platforms: [] },
});

const record = (id: string, more: Partial<AdvisoryRecord> = {}): AdvisoryRecord => ({
  ...{ source: 'nvd', id, aliases: [], state: 'published', title: null, summary: `${id} as told`, cvss: [] },
  ...{ published: '2024-01-01T00:00:00.000Z', modified: '2024-01-02T00:00:00.000Z', severity: null },
  ...{ claims: [claimOn('cpe:f5:nginx')], url: `https://nvd.example/${id}` },
  ...more,
});

const exploited = (cve: string): KnownExploited => ({
  ...{ cve, dateAdded: '2024-01-01', dueDate: null, isRansomware: false, requiredAction: 'Patch it' },
});

const idsOf = (changes: readonly { readonly advisoryId: string }[]) => changes.map(({ advisoryId }) => advisoryId);

onEach(databases, 'stored advisories', (place) => {
  it('are exploited until the whole list lacks them; a part of it takes nothing back', async () => {
    await using store = await openStore(await place.fresh());
    const { advisories } = store;
    const left = async () => (await advisories.counts()).knownExploited;
    await advisories.putExploited([exploited('CVE-2024-0001'), exploited('CVE-2024-0002')]);
    await advisories.putExploited([exploited('CVE-2024-0003')], { isPart: true });
    assert.equal(await left(), 3);
    await advisories.putExploited([exploited('CVE-2024-0001')], { named: ['CVE-2024-0002'] });
    assert.equal(await left(), 2);
  });

  it('are not taken back by what was said before', async () => {
    await using store = await openStore(await place.fresh());
    const { advisories } = store;
    const at = (modified: string, summary: string) => record('CVE-2024-0001', { modified, summary });
    await advisories.putRecords([at('2024-03-01T00:00:00.000Z', 'later')]);
    await advisories.putRecords([at('2024-02-01T00:00:00.000Z', 'earlier')]);
    assert.equal((await advisories.read(['CVE-2024-0001']))[0]?.advisory.summary, 'later');
    const [first, last] = ['the first of a page', 'the last of it'].map((said) => at('2024-03-01T00:00:00.000Z', said));
    await advisories.putRecords([first as AdvisoryRecord, last as AdvisoryRecord]);
    assert.equal((await advisories.read(['CVE-2024-0001']))[0]?.advisory.summary, 'the last of it', 'the same day');
  });

  it('change nothing when the same is said twice', async () => {
    await using store = await openStore(await place.fresh());
    const { advisories } = store;
    const say = async () => {
      await advisories.putRecords([record('CVE-2024-0001'), record('CVE-2024-0002')]);
      await advisories.putExploited([exploited('CVE-2024-0001')]);
      await advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.123456789, percentile: 1 / 3 }]);
    };
    await say();
    const latest = await advisories.latestChange();
    await say();
    assert.equal(await advisories.latestChange(), latest);
    await advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.2, percentile: 1 / 3 }]);
    assert.ok((await advisories.latestChange()) > latest);
  });

  it('move a record to another vulnerability when its aliases do', async () => {
    await using store = await openStore(await place.fresh());
    const { advisories } = store;
    const ghsa = (aliases: readonly string[]) => record('GHSA-2222-2222-2222', { source: 'ghsa', aliases });
    await advisories.putRecords([record('CVE-2024-0001'), ghsa(['CVE-2024-0001'])]);
    const aliases = async (id: string) => (await advisories.read([id]))[0]?.advisory.aliases;
    assert.deepEqual(await aliases('CVE-2024-0001'), ['GHSA-2222-2222-2222']);
    let seq = await advisories.latestChange();
    await advisories.putRecords([ghsa(['CVE-2024-0009'])]);
    assert.deepEqual(await aliases('CVE-2024-0001'), []);
    assert.deepEqual(await aliases('CVE-2024-0009'), ['GHSA-2222-2222-2222']);
    assert.deepEqual(idsOf(await advisories.changesSince(seq, 10)).sort(), ['CVE-2024-0001', 'CVE-2024-0009']);
    // Nobody speaks of it any more.
    seq = await advisories.latestChange();
    await advisories.putRecords([ghsa([])]);
    assert.deepEqual(await advisories.read(['CVE-2024-0009']), []);
    assert.deepEqual(await advisories.naming(['cpe:f5:nginx']), ['CVE-2024-0001', 'GHSA-2222-2222-2222']);
    assert.ok(idsOf(await advisories.changesSince(seq, 10)).includes('CVE-2024-0009'));
  });

  it('are rejected when every publisher has withdrawn them, and come out the same in any order', async () => {
    const said = [
      record('CVE-2024-0001', { state: 'rejected', claims: [] }),
      record('CVE-2024-0001', { source: 'cna', title: 'As the CNA has it' }),
      record('GHSA-2222-2222-2222', { source: 'ghsa', aliases: ['CVE-2024-0001'], severity: 'high' }),
    ];
    const bodies = new Set<string>();
    for (const order of [said, said.toReversed()]) {
      await using store = await openStore(await place.fresh());
      for (const each of order) await store.advisories.putRecords([each]);
      bodies.add(JSON.stringify(await store.advisories.read(['CVE-2024-0001'])));
      await store.advisories.putRecords(order.map((each) => ({ ...each, state: 'rejected' as const, claims: [] })));
      const [found] = await store.advisories.read(['CVE-2024-0001']);
      assert.deepEqual([found?.advisory.state, found?.advisory.claims], ['rejected', []]);
      assert.deepEqual(await store.advisories.naming(['cpe:f5:nginx']), []);
    }
    assert.equal(bodies.size, 1);
    assert.match([...bodies][0] ?? '', /"state":"published","title":"As the CNA has it"/);
  });

  it('know of exploitation and scores whichever comes first, and of what is taken back', async () => {
    await using store = await openStore(await place.fresh());
    const { advisories } = store;
    await advisories.putExploited([exploited('CVE-2024-0001'), exploited('CVE-2024-0002')]);
    await advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.5, percentile: 0.9 }]);
    assert.deepEqual(await advisories.read(['CVE-2024-0001']), []);
    const before = await advisories.latestChange();
    await advisories.putRecords([record('CVE-2024-0001')]);
    assert.deepEqual(idsOf(await advisories.changesSince(before, 10)), ['CVE-2024-0001']);
    const [found] = await advisories.read(['CVE-2024-0001']);
    assert.deepEqual(found?.score, { epss: 0.5, percentile: 0.9 });
    assert.equal(found?.exploited?.cve, 'CVE-2024-0001');
    const seq = await advisories.latestChange();
    await advisories.putExploited([exploited('CVE-2024-0002')]);
    assert.deepEqual(idsOf(await advisories.changesSince(seq, 10)), ['CVE-2024-0001']);
    assert.equal((await advisories.read(['CVE-2024-0001']))[0]?.exploited, null);
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
          const [now] = await advisories.read([change.advisoryId]);
          if (now) followed.set(change.advisoryId, JSON.stringify(now));
          else followed.delete(change.advisoryId);
        }
        return changes.length;
      };
      for (const each of operations) {
        if (each.kind === 'record') await advisories.putRecords([record(each.id, { summary: each.word })]);
        else if (each.kind === 'alias')
          await advisories.putRecords([record(each.id, { source: 'ghsa', aliases: [each.cve] })]);
        else if (each.kind === 'kev') await advisories.putExploited(each.cves.map((id) => exploited(id)));
        else if (each.kind === 'score') await advisories.putScores([{ cve: each.cve, epss: each.epss, percentile: 0 }]);
        else await follow(each.limit);
      }
      while ((await follow(2)) > 0);
      const all = await advisories.read([1, 2, 3, 4, 5, 6].map((n) => `CVE-2024-000${n}`));
      const expected = new Map(all.map((each) => [each.advisory.id, JSON.stringify(each)]));
      assert.deepEqual([...followed].sort(), [...expected].sort());
      assert.equal(await advisories.latestChange(), seq);
    });
    await fc.assert(property, { numRuns: place === postgres ? 8 : 60 });
  });
});

onEach(kept, 'stored advisories', (place) => {
  it('never give a number of the order twice, not even after a restart', async () => {
    const url = await place.fresh();
    const seen: number[] = [];
    for (const summary of ['a', 'b', 'c']) {
      await using store = await openStore(url);
      await store.advisories.putRecords([record('CVE-2024-0001', { summary })]);
      seen.push(await store.advisories.latestChange());
    }
    assert.ok(
      seen.every((number, at) => at === 0 || number > (seen[at - 1] ?? 0)),
      seen.join(),
    );
  });

  it('are found by keys, whatever their number', async () => {
    const url = await place.fresh();
    {
      await using store = await openStore(url);
      await store.advisories.putRecords(
        Array.from({ length: 300 }, (_, i) => record(`CVE-2024-1${i}`, { claims: [claimOn(`cpe:f5:nginx-${i}`)] })),
      );
      await store.advisories.putScores(
        Array.from({ length: 300 }, (_, i) => ({ cve: `CVE-2024-1${i}`, epss: 0.5, percentile: 0.5 })),
      );
    }
    const plans = await plansOf(url, async (db) => {
      const advisories = new AdvisoryTable(db);
      await advisories.putRecords([record('CVE-2024-10', { summary: 'changed' }), record('CVE-2024-0001')]);
      await advisories.putScores([{ cve: 'CVE-2024-10', epss: 0.1, percentile: 0.1 }]);
      await advisories.naming(['cpe:f5:nginx', 'cpe:x:y']);
      await advisories.read(['CVE-2024-10', 'CVE-2024-11']);
      await advisories.changesSince(5, 10);
      await advisories.latestChange();
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
