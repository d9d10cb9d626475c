// The store in every location: as it was left, refused where it is damaged or of another program, and on a full disk.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { KeyTable, openFile, sqliteDialect } from '@strata/db';
import { Kysely } from 'kysely';
import { openStore } from './index.ts';
import type { Database } from './schema.ts';
import { damage, exec, failsWith, file, freshPath, kept, onEach, pathOf, plansOf, rows } from './test/backends.ts';
import { poll, streamEvent } from './test/records.ts';
import { confirm, day, GOOGLE, recordScan, scanOf } from './test/scans.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** How the backend rejects tables that are not the store's. */
const ofAnotherProgram = (url: string) => failsWith(pathOf(url) === undefined ? 'names-taken' : 'not-a-database');

onEach(kept, 'the checkpoint of a ledger in a data directory', (_backend, test) => {
  test('is the last one written, of each log by its name', async (store) => {
    const checkpoint = store.ledgerCheckpoint('a.example/log');
    assert.equal(await checkpoint.read(), undefined);
    for (const note of ['of one leaf', 'of two leaves']) await checkpoint.write(note);
    assert.equal(await store.ledgerCheckpoint('a.example/log').read(), 'of two leaves');
    assert.equal(await store.ledgerCheckpoint('b.example/log').read(), undefined);
  });
});

onEach(kept, 'a store', (backend, test, _onFresh, onEmpty) => {
  test('is changed in one scan and one domain by a scan that finds the same', async (store, url) => {
    await recordScan(store, scanOf('a.com', day(0), GOOGLE), confirm);
    const tables = ['services', 'evidence', 'events', 'changes', 'scans'];
    const read = () => Promise.all(tables.map((table) => rows(url, `SELECT * FROM ${table}`)));
    const [before, profile] = [await read(), await store.domains.profile('a.com')];
    assert.equal((await recordScan(store, scanOf('a.com', day(1), GOOGLE), confirm)).isChanged, false);
    const after = await read();
    assert.deepEqual(after.slice(0, -1), before.slice(0, -1));
    const counts = [before, after].map((all) => all.map(({ length }) => length).join());
    assert.deepEqual(counts, ['3,1,1,0,1', '3,1,1,0,2']);
    const services = profile?.services.map((service) => ({ ...service, lastObserved: new Date(day(1)) }));
    assert.deepEqual((await store.domains.profile('a.com'))?.services, services);
  });

  it('is opened again as it was left, with its counts, and no key or address in clear', async () => {
    const [url, address] = [await backend.fresh(), '198.51.100.77'];
    const made = await openStore(url);
    for (let i = 0; i < 20; i += 1) await recordScan(made, scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
    const { key, stored } = await made.keys.create({ tier: 'free' });
    const issued = (await made.keys.issue([{ name: address, times: 1 }], { perDay: 1 }))?.key ?? '';
    for (let i = 0; i < 3; i += 1) await made.quota.take(stored.id, '2026-01-01', 50);
    await made[Symbol.asyncDispose]();
    const file = pathOf(url);
    const text = JSON.stringify(await rows(url, 'SELECT * FROM api_keys')) + (file ? readFileSync(file, 'latin1') : '');
    for (const secret of [key.slice(4), issued.slice(4), address, sha256(address)])
      assert.ok(!text.includes(secret), 'neither itself nor a hash that could be guessed');
    assert.ok(text.includes(sha256(key)), 'a key is found by its hash');
    const plans = await plansOf(url, async (db) => {
      await (await KeyTable.open(db, { now: () => new Date(), prefix: 'ssk_' })).find(key);
    });
    const scans = plans.filter(({ sql }) => sql.includes('"hash"')).map((plan) => plan.scans);
    assert.deepEqual(scans, [[], []]);
    await using store = await openStore(url);
    assert.equal((await store.inspection.counts()).scannedDomains, 20);
    assert.ok(issued && (await store.keys.find(issued)));
    assert.equal((await store.keys.find(key))?.id, stored.id);
    assert.deepEqual(await store.quota.take(stored.id, '2026-01-01', 50), { isAllowed: true, used: 4 });
  });

  onEmpty('gets all of its schema or nothing', async (url) => {
    const tables = pathOf(url) ? 'name from sqlite_schema where ' : "relname from pg_class where relkind = 'r' and rel";
    const ours = `select ${tables}name in ('domains', 'scans')`;
    await exec(url, 'CREATE TABLE settings (in_the_way TEXT)');
    await assert.rejects(openStore(url), ofAnotherProgram(url));
    assert.deepEqual(await rows(url, ours), []);
    await exec(url, 'DROP TABLE settings');
    await using store = await openStore(url);
    assert.deepEqual([(await store.inspection.counts()).domains, (await rows(url, ours)).length], [0, 2]);
  });

  it('is refused with the schema of a newer version, or of a program that has migrations as we do', async () => {
    const [newer, other] = [await backend.fresh(), await backend.empty()];
    const made = (name: string) => `INSERT INTO kysely_migration (name, timestamp) VALUES ('${name}', '2030-01-01')`;
    await exec(newer, made('999-later'));
    await assert.rejects(openStore(newer), failsWith('newer-version'));
    await exec(other, `CREATE TABLE kysely_migration (name TEXT, timestamp TEXT); ${made('2020_recipes')}`);
    await assert.rejects(openStore(other), ofAnotherProgram(other));
  });

  test('keeps the greatest integers, and texts that no database accepts', async (store) => {
    const { stream, feeds } = store;
    const publishedUs = Number.MAX_SAFE_INTEGER;
    await stream.begin(0, publishedUs - 1);
    const event = streamEvent(publishedUs, { body: '{"a":"\\u0000"}' });
    const appended = (await stream.append([event], { from: 0, to: publishedUs })) ?? [];
    assert.deepEqual([await stream.since(0, 1), await stream.seqAt(publishedUs)], [appended, appended[0]?.seq]);
    assert.equal(await stream.cursor(), publishedUs);
    for (const refused of [2 ** 64, 0.5])
      await assert.rejects(stream.append([streamEvent(refused)], { from: publishedUs, to: 1 }));
    // NUL and half of a surrogate pair, by every path: a value, a list, and rows.
    const odd = 'a\0b\ud800c';
    await store.domains.add([odd], { source: odd });
    assert.equal((await store.domains.due(new Date(), 1)).length, 1);
    assert.equal((await store.domains.scannedSince([odd], new Date(0))).size, 0);
    const address = 'https://a.example/';
    await feeds.add([{ url: address, title: odd }], new Date(0));
    const { id, state } = (await feeds.find(address)) ?? assert.fail();
    assert.match(state.title ?? '', /^a.b.+c$/);
    assert.ok(state.title?.isWellFormed());
    const polled = poll(address, [{ key: 'k', url: address + odd, title: odd, domains: ['x.com'] }]);
    const options = { at: new Date(1), keepFrom: new Date(0) };
    assert.deepEqual(await feeds.record(id, polled, options), { kind: 'recorded', items: 1, mentions: 1 });
    assert.deepEqual(await feeds.record(id, polled, options), { kind: 'recorded', items: 0, mentions: 0 });
    assert.equal(await feeds.mentions.domain(odd), undefined);
    const [naming] = await feeds.mentions.feedsNaming('x.com', 1);
    assert.match(`${naming?.latest.title} ${naming?.latest.url}`, /^a.b.+c https:..a.example.a.b.+c$/);
  });
});

it('a SQLite file is refused where it is not a database, or damaged', async () => {
  const text = freshPath();
  writeFileSync(text, 'this is a letter to my aunt, and it is long enough to be read '.repeat(50));
  await assert.rejects(openStore(`sqlite:${text}`), failsWith('not-a-database'));
  const open = '/proc/self/fd';
  // The one of the directory itself is closed by now.
  const fileOf = (fd: string) => existsSync(`${open}/${fd}`) && readlinkSync(`${open}/${fd}`);
  if (existsSync(open)) assert.ok(!readdirSync(open).map(fileOf).includes(text));
  const damaged = await file.fresh();
  const names = Array.from({ length: 100 }, (_, i) => `d${i}.com`);
  {
    await using store = await openStore(damaged);
    for (const name of names) await recordScan(store, scanOf(name, day(0), GOOGLE), confirm);
  }
  damage(pathOf(damaged) ?? '', [1, 60]);
  const reading = async () => {
    await using store = await openStore(damaged);
    for (const name of names) await store.domains.profile(name);
    await recordScan(store, scanOf('new.com', day(0), GOOGLE), confirm);
  };
  await assert.rejects(reading, failsWith('corrupt'));
});

it('a SQLite file is refused where it belongs to another program, is missing or read-only', async () => {
  const [url, directory] = [await file.fresh(), path.dirname(freshPath())];
  const other = `sqlite:${freshPath()}`;
  await exec(other, 'CREATE TABLE recipes (name TEXT)');
  await assert.rejects(openStore(other), failsWith('not-a-database'));
  for (const missing of [directory, `${directory}/no/such/folder/x.db`])
    await assert.rejects(openStore(`sqlite:${missing}`), failsWith('cannot-open'));
  for (const wrong of ['mysql://x', 'postgres:x', 'x.db', ''])
    await assert.rejects(openStore(wrong), /must begin with sqlite: .* or with postgres:/);
  // SQLite's own way to open a file that cannot be written, which binds root too.
  await assert.rejects(openStore(`sqlite:file:${pathOf(url)}?mode=ro`), failsWith('read-only'));
});

it('a SQLite file reports a disk that is full, and is still read', async () => {
  const database = openFile(pathOf(await file.fresh()) ?? '');
  // A file that has no page left is full, as a disk is.
  database.exec('PRAGMA max_page_count = 1');
  await using db = new Kysely<Database>({ dialect: sqliteDialect(database) });
  const value = 'x'.repeat(100_000);
  await assert.rejects(db.insertInto('settings').values({ name: 'x', value }).execute(), failsWith('disk-full'));
  assert.ok((await db.selectFrom('settings').select('name').execute()).length > 0);
});
