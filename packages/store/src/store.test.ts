// The store in every place: as it was left, and for several processes at once.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { KeyTable } from './keys.ts';
import { failsWith } from './test/fails-with.ts';
import { streamEvent } from './test/notifications.ts';
import { exec, kept, onEach, pathOf, rows } from './test/places.ts';
import { plansOf } from './test/plans.ts';
import { poll } from './test/polls.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** How the place refuses tables that are not the store's. */
const ofAnotherProgram = (url: string) => failsWith(pathOf(url) === undefined ? 'names-taken' : 'not-a-database');

onEach(kept, 'a store', (place, test) => {
  test('is changed in one scan and one domain by a scan that finds the same', async (store, url) => {
    await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
    const tables = ['services', 'evidence', 'events', 'changes', 'scans'];
    const read = () => Promise.all(tables.map((table) => rows(url, `SELECT * FROM ${table}`)));
    const [before, profile] = [await read(), await store.domain('a.com')];
    assert.equal((await store.recordScan(scanOf('a.com', day(1), GOOGLE), confirm)).isChanged, false);
    const after = await read();
    assert.deepEqual(after.slice(0, -1), before.slice(0, -1));
    const counts = [before, after].map((all) => all.map(({ length }) => length).join());
    assert.deepEqual(counts, ['3,1,1,0,1', '3,1,1,0,2']);
    const services = profile?.services.map((service) => ({ ...service, lastSeen: new Date(day(1)) }));
    assert.deepEqual((await store.domain('a.com'))?.services, services);
  });

  it('is opened again as it was left, with its counts, and no key or address in clear', async () => {
    const url = await place.fresh();
    const address = '198.51.100.77';
    const made: string[] = [];
    let id = '';
    {
      await using store = await openStore(url);
      for (let i = 0; i < 20; i += 1) await store.recordScan(scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
      const { key, stored } = await store.keys.create({ tier: 'free' });
      id = stored.id;
      made.push(key, (await store.keys.issue(address, { perDay: 1 }))?.key ?? '');
      for (let i = 0; i < 3; i += 1) await store.quota.take(id, '2026-01-01', 50);
    }
    const file = pathOf(url);
    const text = JSON.stringify(await rows(url, 'SELECT * FROM api_keys')) + (file ? readFileSync(file, 'latin1') : '');
    for (const secret of [...made.map((key) => key.slice('ssk_'.length)), address, sha256(address)])
      assert.ok(!text.includes(secret), 'neither itself nor a hash that could be guessed');
    const [first = ''] = made;
    assert.ok(text.includes(sha256(first)), 'a key is found by its hash');
    const plans = await plansOf(url, async (db) => {
      await (await KeyTable.open(db, { now: () => new Date(), prefix: 'ssk_' })).find(first);
    });
    const scans = plans.filter(({ sql }) => sql.includes('"hash"')).map((plan) => plan.scans);
    assert.deepEqual(scans, [[], []]);
    await using store = await openStore(url);
    assert.equal((await store.counts()).scannedDomains, 20);
    for (const key of made) assert.ok(await store.keys.find(key));
    assert.equal((await store.keys.find(first))?.id, id);
    assert.deepEqual(await store.quota.take(id, '2026-01-01', 50), { isAllowed: true, used: 4 });
  });

  it('gets all of its schema or nothing', async () => {
    const url = await place.empty();
    const names = "name IN ('domains', 'scans')";
    const ours =
      pathOf(url) === undefined
        ? `SELECT relname AS name FROM pg_class WHERE rel${names} AND relkind = 'r'`
        : `SELECT name FROM sqlite_schema WHERE ${names}`;
    await exec(url, 'CREATE TABLE settings (in_the_way TEXT)');
    await assert.rejects(openStore(url), ofAnotherProgram(url));
    assert.deepEqual(await rows(url, ours), []);
    await exec(url, 'DROP TABLE settings');
    await using store = await openStore(url);
    assert.equal((await store.counts()).domains, 0);
    assert.equal((await rows(url, ours)).length, 2);
  });

  it('is refused with the schema of a newer version, or of a program that has migrations as we do', async () => {
    const [newer, other] = [await place.fresh(), await place.empty()];
    const made = (name: string) => `INSERT INTO kysely_migration (name, timestamp) VALUES ('${name}', '2030-01-01')`;
    await exec(newer, made('999-later'));
    await assert.rejects(openStore(newer), failsWith('newer-version'));
    await exec(other, `CREATE TABLE kysely_migration (name TEXT, timestamp TEXT); ${made('2020_recipes')}`);
    await assert.rejects(openStore(other), ofAnotherProgram(other));
  });

  test('keeps the greatest integers, and texts that no database accepts', async (store) => {
    const { stream, feeds, answers } = store;
    const publishedUs = Number.MAX_SAFE_INTEGER;
    await stream.begin(0, publishedUs - 1);
    const event = streamEvent(publishedUs, { body: '{"a":"\\u0000"}' });
    const appended = (await stream.append([event], { from: 0, to: publishedUs })) ?? [];
    assert.deepEqual(await stream.since(0, 1), appended);
    assert.equal(await stream.seqAt(publishedUs), appended[0]?.seq);
    assert.equal(await stream.cursor(), publishedUs);
    for (const refused of [2 ** 64, 0.5])
      await assert.rejects(stream.append([streamEvent(refused)], { from: publishedUs, to: 1 }));

    // NUL and half of a surrogate pair, by every path: a value, a list, and rows.
    const odd = 'a\0b\ud800c';
    await store.addDomains([odd], { source: odd });
    assert.equal((await store.due(new Date(), 1)).length, 1);
    assert.equal((await store.scannedSince([odd], new Date(0))).size, 0);
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
    const body = '{"model":{"id":"m","sha256":"a"},"x":"\\u0000\\ud800"}';
    await answers.keep([{ id: 'rwr_1', keyId: odd, body }]);
    assert.deepEqual([...(await answers.modelNames())], [['a', 'm']]);
  });
});
