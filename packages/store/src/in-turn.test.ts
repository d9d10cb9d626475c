// A transaction that lost against others is run again, and writes once.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Kysely, sql } from 'kysely';
import { inTurn } from './in-turn.ts';
import { BEGIN_WRITING } from './postgres-dialect.ts';
import type { Database } from './schema.ts';
import { connect, untilWaiting } from './test/connections.ts';
import { A, later, recordPoll, subscribed, T0 } from './test/feed-store.ts';
import { onEach, postgres, rows } from './test/places.ts';
import { dialectOf } from './test/plans.ts';
import { poll } from './test/polls.ts';
import { confirm, day, GOOGLE, MICROSOFT, scanOf } from './test/scans.ts';

/** Another connection, which never finds out by itself that it is in a deadlock. */
async function connectPatiently(url: string) {
  const client = await connect(url);
  await client.query("set deadlock_timeout = '5min'");
  return client;
}

onEach([postgres], 'a transaction that writes', ({ fresh }, test) => {
  test('is run again after a deadlock, and has recorded once', async (store, url) => {
    const both = (n: number, exchange: string) => ['a.com', 'b.com'].map((name) => scanOf(name, day(n), exchange));
    const lastId = async () => Number((await rows(url, 'select max(id) as id from scans'))[0]?.id);
    await store.recordScans([...both(0, GOOGLE), ...both(1, MICROSOFT)], confirm);
    await using other = await connectPatiently(url);
    const before = await lastId();
    await other.query("begin; update domains set failures = 0 where name = 'b.com'");
    const recording = store.recordScans(both(2, MICROSOFT), confirm);
    await untilWaiting(url);
    // The recording has locked this one, by the scan that it has written, and waits for the other.
    await other.query("select 1 from domains where name = 'a.com' for update");
    await other.query('commit');
    const types = (await recording).map(
      (each) => each.status === 'fulfilled' && each.value.changes.map(({ type }) => type),
    );
    assert.deepEqual(types, [['migrated'], ['migrated']]);
    assert.deepEqual(await store.counts(), { domains: 2, scannedDomains: 2, services: 6, scans: 6, changes: 2 });
    // Numbers of what was rolled back are gaps: it was run twice, and not delayed.
    assert.equal(await lastId(), before + 4);
  });

  test('counts what it has added once, also when it was run twice', async (store, url) => {
    const [id = 0] = await subscribed(store, A);
    const record = (at: Date, ...keys: string[]) => {
      const items = keys.map((key) => ({ key, domains: ['x.com', `${key}.com`] }));
      return recordPoll(store, id, poll(A, items), at);
    };
    assert.equal((await record(T0, 'old')).items, 1);
    await using other = await connectPatiently(url);
    await other.query('begin; select 1 from feed_items for update');
    // It adds the new item, and waits to mark that the old one is still there.
    const recording = record(later(40 * 24), 'old', 'new');
    await untilWaiting(url);
    await other.query(BEGIN_WRITING.replace('begin;', ''));
    await other.query('commit');
    assert.deepEqual(await recording, { kind: 'recorded', items: 1, mentions: 2 });
    assert.equal((await store.feeds.summary()).items, 2);
  });

  it('is given up after three times', async () => {
    await using db = new Kysely<Database>({ dialect: dialectOf(await fresh()) });
    let tries = 0;
    const failing = (text: string) => {
      tries = 0;
      return inTurn(db, async (tx) => {
        tries += 1;
        await tx.selectFrom('domains').select('id').execute();
        await sql.raw(text).execute(tx);
      });
    };
    const lost = failing("do $$ begin raise exception 'lost' using errcode = '40001'; end $$");
    await assert.rejects(lost, { code: 'conflict' });
    assert.equal(tries, 3);
    await assert.rejects(failing('select 1 / 0'));
    assert.equal(tries, 1, 'an error of its own');
  });
});

describe('the sources', () => {
  it('write in transactions of which each is run again, or by a rule of their own', () => {
    // The ledger looks for what a lost transaction has written before it writes again; a restored backup is read from a file once.
    const exempt = new Set(['in-turn.ts', 'ledger.ts', 'postgres-backup.ts']);
    const others = globSync('*.ts', { cwd: import.meta.dirname })
      .filter((file) => !file.endsWith('.test.ts') && !exempt.has(file))
      .filter((file) => {
        const text = readFileSync(path.join(import.meta.dirname, file), 'utf8');
        return /\.transaction\(\)(?!\s*\.setAccessMode\('read only'\))/.test(text);
      });
    assert.deepEqual(others, []);
  });
});
