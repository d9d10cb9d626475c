// Stores as each released migration left them, with rows of their time, opened by today's code: everything is read, nothing is lost.
// The rows are the SQL texts of upgrade, written after the migration of their number; they are never changed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { checkStore, isPostgres, migrateTo } from '@strata/db';
import { released } from '../../../../../tests/support/database/released.ts';
import { openStore, type Store, stackSchema } from '../index.ts';
import { databaseOf, exec, kept, onEach, rows } from './backends.ts';
import { confirm, day, GOOGLE, MICROSOFT, readFeed, recordScan, scanOf } from './scans.ts';

const KEY = `ssk_${'a'.repeat(43)}`;
const KEY_ID = 'key_0000000000000001';
const PAGE = { limit: 10, offset: 0 } as const;
/** Released with rows of their time; a later migration brings its own text, or needs none. */
export const RELEASED = Object.keys(released).filter((name) => name <= '014-zzz');

/** Some tables have rows on PostgreSQL only: their text is a separate one. */
function rowsOf(number: string, isOnPostgres: boolean): string {
  const names = isOnPostgres ? [`${number}.sql`, `${number}.postgres.sql`] : [`${number}.sql`];
  const files = names.map((name) => path.join(import.meta.dirname, 'upgrade', name)).filter(existsSync);
  const texts = files.map((file) => readFileSync(file, 'utf8'));
  return texts
    .join('')
    .replaceAll(/\{\{blob ([0-9a-f]*)\}\}/g, isOnPostgres ? "'\\x$1'::bytea" : "X'$1'")
    .replaceAll('{{hash}}', createHash('sha256').update(KEY).digest('hex'));
}

export async function makeOld(url: string, last: string): Promise<void> {
  await using db = databaseOf(url);
  for (const name of RELEASED.filter((each) => each <= last)) {
    await db.transaction().execute((tx) => migrateTo(tx, released, name));
    await exec(url, rowsOf(name.slice(0, 3), isPostgres(db)));
    // A scan takes time; its time is that of its start.
    if (name === RELEASED[0]) await exec(url, 'update scans set finished_at = finished_at + 1');
  }
  if (!isPostgres(db)) return;
  // The texts contain explicit numbers; the sequences are advanced past them.
  const numbered = `select table_name as table, column_name as key from information_schema.columns
    where table_schema = current_schema() and is_identity = 'YES'`;
  for (const { table, key } of await rows(url, numbered)) {
    const next = `(select coalesce(max(${key}), 0) + 1 from ${table})`;
    await exec(url, `select setval(pg_get_serial_sequence('${table}', '${key}'), ${next})`);
  }
}

async function assertRead(store: Store, url: string, number: number): Promise<void> {
  const profile = await store.domains.profile('a.com');
  const mail = profile?.services.find(({ category }) => category === 'email');
  assert.deepEqual([mail?.provider, profile?.scannedAt.toISOString()], ['microsoft-365', day(2)]);
  const { changes, total } = await store.domains.changes('a.com', PAGE);
  assert.deepEqual([total, changes[0]?.type, changes[0]?.to], [1, 'migrated', 'microsoft-365']);
  assert.deepEqual(await store.domains.due(new Date(day(1)), 10), ['waiting.com']);
  assert.partialDeepStrictEqual(await store.inspection.counts(), { domains: 3, scans: 6, changes: 2 });
  const events = await store.events.since(0, 100);
  assert.equal(events.filter(({ kind }) => kind === 'change-confirmed').length, 2, 'they had another name once');
  assert.partialDeepStrictEqual(await store.keys.find(KEY), { id: KEY_ID, tier: 'free' });
  assert.equal((await store.quota.take(KEY_ID, '2026-01-01', 50)).used, 8);
  assert.match(await store.feed.storeId(), /^[0-9a-f-]{36}$/);
  assert.equal((await store.feed.scansSince(0, 1))[0]?.at, Date.parse(day(0)));
  const filled = await rows(url, 'select first_scanned_at, changed_at from domains order by id');
  const times = { first_scanned_at: Date.parse(day(0)), changed_at: Date.parse(day(2)) };
  assert.deepEqual(filled, [times, times, { first_scanned_at: null, changed_at: null }]);
  if (number >= 2) {
    assert.equal((await store.stream.since(0, 10))[0]?.publishedUs, 1_767_225_600_000_001);
    assert.equal((await store.signals.anomaly('an_1'))?.facts.value, 1);
  }
  if (number >= 5) assert.partialDeepStrictEqual(await store.advisories.counts(), { advisories: 0, scores: 1 });
  if (number >= 6)
    assert.match(JSON.stringify(await store.feeds.list({ after: 0, limit: 5 })), /https:\/\/a\.com\/feed/);
  // Tables of the gateway and the worker: one with rows is left, an empty one is dropped.
  if (number >= 7) {
    assert.equal((await rows(url, 'select * from segments')).length, 1);
    await assert.rejects(rows(url, 'select * from standings'), /standings/);
  }
  if (number >= 11) {
    const row = { revision: 3, tracked_ms: 172_800_000, changes_seen: 1 };
    assert.deepEqual(await rows(url, `select ${Object.keys(row)} from domains where id = 1`), [row]);
    // The old lease has expired.
    const claim = { holder: 'now', limit: 10, leaseMs: 1_000 };
    assert.deepEqual(await store.work.claimDue(claim, new Date(day(1))), ['waiting.com']);
  }
  if (number >= 12) assert.equal((await store.inspection.heads()).keys, 2);
  if (number >= 13 && store.ledger) {
    const { log, keys } = store.ledger;
    assert.partialDeepStrictEqual(await log.head(), { origin: 'old.example/stack', size: 1 });
    assert.equal(Buffer.from((await log.leaves(0, 10))[0] ?? []).toString(), 'a leaf of then');
    assert.deepEqual([(await log.hashes(0, 0, 1)).length, [...(await keys.all()).keys()]], [32, ['old']]);
  }
}

export function upgradesFrom(schemas: readonly string[]): void {
  onEach(kept, 'a store of an older version', (backend) => {
    for (const last of schemas)
      it(`with the schema ${last} is read completely, and goes on`, async () => {
        const url = await backend.empty();
        await makeOld(url, last);
        await using store = await openStore(url);
        await assertRead(store, url, Number(last.slice(0, 3)));

        // Continues: a service that returns is a change, confirmed by a second scan.
        for (const at of [3, 4]) await recordScan(store, scanOf('a.com', day(at), GOOGLE), confirm);
        const later = await store.domains.changes('a.com', PAGE);
        assert.deepEqual([later.total, later.changes[0]?.to], [2, 'google-workspace']);
        await recordScan(store, scanOf('new.com', day(4), MICROSOFT), confirm);
        const marked = (await store.events.since(0, 100)).findLast(({ kind }) => kind === 'domain-changed');
        assert.ok(marked?.kind === 'domain-changed' && marked.payload.posture > 0 && marked.payload.holders > 0);
        const { domainId, isFirst: _first, rulebook: _rulebook, ...payload } = marked.payload;
        const feed = await readFeed(store);
        const report = feed.domains.find(({ name }) => name === 'new.com');
        const times = { firstSeen: Date.parse(day(4)), changedAt: 0 };
        const expected = { id: domainId, name: 'new.com', ...times, ...payload };
        assert.deepEqual(report, expected, 'the event equals a fresh reading');
        const { changeDays, scanDays } = feed;
        const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);
        const sums = [sum(scanDays.map(({ scans }) => scans)), sum(changeDays.map(({ gained }) => gained))];
        assert.deepEqual(sums, [9, 3]);
        assert.deepEqual((await checkStore(stackSchema, url)).findings, []);
      });
  });
}
