// Batches take a constant number of round trips, whatever their size; and numbers that memory is indexed by.
import assert from 'node:assert/strict';
import type { AdvisoryRecord } from '@strata/advisories';
import { guardOf } from '@strata/db';
import { ledgerTablesIn } from '@strata/log';
import type { Kysely } from 'kysely';
import { type Traffic, trafficOf } from '../../../../tests/support/database/round-trips.ts';
import { DomainTable } from './domains/domains.ts';
import { AdvisoryTable } from './enrichment/advisories.ts';
import { StreamTable } from './events/stream.ts';
import { FeedTable } from './feeds/feeds.ts';
import { RetentionTable } from './history/retention.ts';
import { createRecorder } from './scans/record-scan.ts';
import { prepareScanStatements } from './scans/scan-statements.ts';
import { ScanWork } from './scans/scan-work.ts';
import type { Database } from './schema.ts';
import { databaseOf, kept, onEach, postgres, rows } from './test/backends.ts';
import { keepFrom, later, T0 } from './test/feed-store.ts';
import { poll, streamEvent } from './test/records.ts';
import { confirm, day, GOOGLE, MICROSOFT, scanOf } from './test/scans.ts';

const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
const namesOf = (prefix: string, n: number) => times(n, (i) => `${prefix}${n}-${i}.com`);
const scansOf = (n: number, at: number, to: string) => namesOf('d', n).map((name) => scanOf(name, day(at), to));
const record = (id: string, summary: string): AdvisoryRecord => ({
  ...{ source: 'nvd', id, aliases: [], state: 'published', title: null, summary, cvss: [], severity: null },
  ...{ published: day(0), modified: day(0), url: 'https://nvd.example/' },
  claims: [
    {
      ...{ kind: 'product', products: [`cpe:x:${id}`], scheme: 'dotted', affected: [{}], affectedVersions: [] },
      ...{ unaffected: [], otherwise: 'unknown', platforms: [] },
    },
  ],
});
const hash = (i: number) => new Uint8Array(32).fill(i);
const HEAD = { origin: 'o', size: 0, root: hash(0), edge: new Uint8Array(), note: '' };

/** By what is written how often the server is waited for; a guard is one of them. Each writes so many rows for the n-th time. */
const WRITERS: Readonly<
  Record<string, readonly [Traffic['trips'], (db: Kysely<Database>, n: number) => Promise<unknown>]>
> = {
  domains: [[1, 0], (db, n) => new DomainTable(db, () => T0).add(namesOf('new', n), { source: 't' })],
  'first scans': [[2, 0], (db, n) => recorder(db)(scansOf(n, 0, GOOGLE), confirm)],
  'scans that confirm changes': [
    [4, 0],
    async (db, n) => {
      await recorder(db)(scansOf(n, 2, MICROSOFT), confirm);
      const results = await recorder(db)(scansOf(n, 3, MICROSOFT), confirm);
      assert.ok(results.every((each) => each.status === 'fulfilled' && each.value.changes.length === 1));
    },
  ],
  leases: [[1, 0], (db, n) => new ScanWork(db, { rescanAfterMs: 1 }).release('x', namesOf('d', n))],
  'stream events': [
    [2, 1],
    async (db, n) => {
      const events = times(n, (i) => streamEvent(n * 100 + i));
      const appended = await new StreamTable(db, guard(db)).append(events, { from: cursor, to: n });
      assert.equal(appended?.length, n);
      cursor = n;
    },
  ],
  advisories: [[4, 3], (db, n) => advisories(db).putRecords(times(n, (i) => record(`CVE-${n}-${i}`, String(n))))],
  'exploited advisories': [
    [3, 2],
    (db, n) => {
      const entry = { dateAdded: '2024-01-01', dueDate: null, isRansomware: false, requiredAction: 'Patch' };
      return advisories(db).putExploited(times(n, (i) => ({ ...entry, cve: `CVE-${n}-${i}` })));
    },
  ],
  scores: [
    [3, 2],
    (db, n) => advisories(db).putScores(times(n, (i) => ({ cve: `CVE-${n}-${i}`, epss: 0.1, percentile: 0.5 }))),
  ],
  feeds: [
    [2, 0],
    (db, n) => {
      const feeds = times(n, (i) => ({ url: `https://f${n}-${i}.example/` }));
      return new FeedTable(db).add(feeds, T0);
    },
  ],
  'a poll': [
    [3, 1],
    (db, n) => {
      const items = times(n, (i) => ({ key: `${n}-${i}`, domains: [`d${i}.com`] }));
      return new FeedTable(db).record(1, poll('https://f1-0.example/', items), { at: later(n), keepFrom });
    },
  ],
  'old items': [[4, 3], (db, n) => new FeedTable(db).forget(later(100), n)],
  'old scans': [[4, 1], (db, n) => new RetentionTable(db, guard(db)).prune('scans', { before: T0, limit: n })],
  'leaves of the ledger': [
    [2, 0],
    (db, n) =>
      ledgerTablesIn(db).log.withHead((head, grow) =>
        grow({
          ...{ from: head, head: { ...head, size: head.size + n, root: hash(n) }, subtrees: [], isLast: true },
          leaves: times(n, (i) => ({ hash: hash(i), leaf: hash(i) })),
        }),
      ),
  ],
};
let cursor = 0;
const recorder = (db: Kysely<Database>) => createRecorder(db, { rescanAfterMs: 1 });
const guard = (_db: Kysely<Database>) => guardOf('scheduler-term', () => 0);
const advisories = (db: Kysely<Database>) => new AdvisoryTable(db, guard(db));

onEach([postgres], 'a batch', (_backend, _test, onFresh) => {
  onFresh('is written in as many round trips whatever its size, hardly any under the lock', async (url) => {
    await using db = databaseOf(url);
    await new StreamTable(db).begin(0, 1);
    await ledgerTablesIn(db).log.begin(HEAD);
    for (const [what, [expected, write]] of Object.entries(WRITERS))
      for (const n of [1, 8, 64])
        assert.deepEqual((await trafficOf(() => write(db, n))).trips, expected, `${n} ${what}`);
  });

  onFresh(
    'of profiles that are asked for at once is read in a round trip for 32 names, each with its own services',
    async (url) => {
      await using db = databaseOf(url);
      for (const n of [1, 40]) await recorder(db)(scansOf(n, 0, n === 1 ? MICROSOFT : GOOGLE), confirm);
      const domains = new DomainTable(db, () => T0);
      const asked = ['none.com', ...namesOf('d', 40), ...namesOf('d', 1), 'd40-39.com'];
      let found: Awaited<ReturnType<typeof domains.profile>>[] = [];
      const reading = async () => {
        found = await Promise.all(asked.map(domains.profile));
      };
      assert.deepEqual((await trafficOf(reading)).trips, [2, 0]);
      const alone = new DomainTable(db, () => T0);
      for (const [i, name] of asked.entries()) assert.deepEqual(found[i], await alone.profile(name), name);
      assert.deepEqual([found[0], found[1]?.domain, found[41]?.domain], [undefined, 'd40-0.com', 'd1-0.com']);
      assert.notDeepEqual(found[1]?.services, found[41]?.services);
      await db.destroy();
      const failed = await Promise.allSettled(asked.map(domains.profile));
      assert.ok(failed.every(({ status }) => status === 'rejected'));
    },
  );

  // A prepared statement keeps the plan of the empty table until the server has made statistics.
  onFresh('of scans finds open services by domain, planned when the table was empty', async (url) => {
    await using db = databaseOf(url);
    const { sql, ...query } = prepareScanStatements(db).openServices(namesOf('d', 64));
    const { rows } = await db.executeQuery({ ...query, sql: `explain ${sql}` });
    assert.match(JSON.stringify(rows), /services_open.*Index Cond: .domain_id = ANY/);
  });

  onFresh('of scans has arrived when the lock is taken', async (url) => {
    await using db = databaseOf(url);
    const { sentUnderLock } = await trafficOf(() => recorder(db)(scansOf(64, 0, GOOGLE), confirm));
    assert.ok(sentUnderLock < 64 * 40, `${sentUnderLock} characters`);
  });
});

onEach(kept, 'numbers', (_backend, test) => {
  test('are not used up by known rows, more of them than a statement has parameters', async (store, url) => {
    const names = times(5_500, (i) => `d${i}.com`);
    assert.deepEqual(await store.domains.add(names, { source: 'list' }), { added: 5_500, known: 0 });
    for (let n = 0; n < 5; n += 1) await store.domains.add(names, { source: 'list' });
    assert.equal((await store.domains.scannedSince(names, new Date(0))).size, 0);
    assert.deepEqual(await store.domains.add([...names, 'new.com'], { source: 'list' }), { added: 1, known: 5_500 });
    assert.deepEqual(await rows(url, "select id from domains where name = 'new.com'"), [{ id: 5_501 }]);
    const feeds = times(50, (i) => ({ url: `https://f${i}.example/` }));
    for (let n = 0; n < 3; n += 1) {
      await store.feeds.add(feeds, T0);
      const items = times(9, (i) => ({ key: `${n} ${i}`, domains: times(20, (j) => `d${j}.com`) }));
      await store.feeds.record(1, poll('https://f0.example/', items), { at: later(n), keepFrom });
    }
    await store.feeds.add([{ url: 'https://new.example/' }], T0);
    const news = poll('https://f0.example/', [{ key: 'x', domains: ['new.com'] }]);
    await store.feeds.record(1, news, { at: later(9), keepFrom });
    const last = 'select (select max(id) from feeds) as feeds, (select max(id) from named_domains) as named';
    assert.deepEqual(await rows(url, last), [{ feeds: 51, named: 21 }]);
  });
});
