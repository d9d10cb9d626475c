// The store in every place: as it was left, and for several processes at once.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { KeyTable } from './keys.ts';
import { failsWith } from './test/fails-with.ts';
import { exec, kept, onEach, pathOf, rows } from './test/places.ts';
import { plansOf } from './test/plans.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

onEach(kept, 'a store', (place) => {
  it('is touched in one scan and one domain by a look that sees the same', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
    const tables = ['services', 'evidence', 'events', 'changes', 'scans'];
    const read = () => Promise.all(tables.map((table) => rows(url, `SELECT * FROM ${table}`)));
    const before = await read();
    await store.recordScan(scanOf('a.com', day(1), GOOGLE), confirm);
    const after = await read();
    assert.deepEqual(after.slice(0, -1), before.slice(0, -1));
    assert.deepEqual(
      [before, after].map((all) => all.map(({ length }) => length)),
      [
        [3, 1, 1, 0, 1],
        [3, 1, 1, 0, 2],
      ],
    );
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
    assert.ok(text.includes(sha256(first)), 'the hash of a key is what it is found by');
    const plans = await plansOf(url, async (db) => {
      await (await KeyTable.open(db, { now: () => new Date(), prefix: 'ssk_' })).find(first);
    });
    assert.deepEqual(
      plans.filter(({ sql }) => sql.includes('"hash"')).map(({ scans }) => scans),
      [[], []],
    );
    await using store = await openStore(url);
    assert.equal((await store.counts()).scannedDomains, 20);
    for (const key of made) assert.ok(await store.keys.find(key));
    assert.equal((await store.keys.find(first))?.id, id);
    assert.deepEqual(await store.quota.take(id, '2026-01-01', 50), { isAllowed: true, used: 4 });
  });

  it('gets its schema whole or not at all', async () => {
    const url = await place.empty();
    const names = "name IN ('domains', 'scans')";
    const ours =
      pathOf(url) === undefined
        ? `SELECT relname AS name FROM pg_class WHERE rel${names} AND relkind = 'r'`
        : `SELECT name FROM sqlite_schema WHERE ${names}`;
    await exec(url, 'CREATE TABLE settings (in_the_way TEXT)');
    await assert.rejects(openStore(url), failsWith(pathOf(url) === undefined ? 'names-taken' : 'not-a-database'));
    assert.deepEqual(await rows(url, ours), []);
    await exec(url, 'DROP TABLE settings');
    await using store = await openStore(url);
    assert.equal((await store.counts()).domains, 0);
    assert.equal((await rows(url, ours)).length, 2);
  });

  it('is told to be from a newer version', async () => {
    const url = await place.fresh();
    await (await openStore(url))[Symbol.asyncDispose]();
    await exec(url, "INSERT INTO kysely_migration (name, timestamp) VALUES ('999-later', '2030-01-01')");
    await assert.rejects(openStore(url), failsWith('newer-version'));
  });

  it('is told to be of another program that brings its schema up to date as we do', async () => {
    const url = await place.empty();
    await exec(
      url,
      `CREATE TABLE kysely_migration (name TEXT, timestamp TEXT);
       INSERT INTO kysely_migration VALUES ('2020_recipes', '2020-01-01')`,
    );
    await assert.rejects(openStore(url), failsWith(pathOf(url) === undefined ? 'names-taken' : 'not-a-database'));
  });

  it('keeps whole numbers as great as there are, and texts that no database likes', async () => {
    await using store = await openStore(await place.fresh());
    await store.stream.begin(0, Number.MAX_SAFE_INTEGER - 1);
    const event = { type: 't', domain: null, providers: [], category: null, body: '{"a":"\\u0000"}' };
    const publishedUs = Number.MAX_SAFE_INTEGER;
    const told = (await store.stream.append([{ ...event, publishedUs }], { from: 0, to: publishedUs })) ?? [];
    assert.deepEqual(await store.stream.since(0, 1), told);
    assert.equal(await store.stream.seqAt(publishedUs), told[0]?.seq);
    assert.equal(await store.stream.cursor(), publishedUs);
    await assert.rejects(store.stream.append([{ ...event, publishedUs: 2 ** 64 }], { from: publishedUs, to: 1 }));
    await assert.rejects(store.stream.append([{ ...event, publishedUs: 0.5 }], { from: publishedUs, to: 1 }));

    // NUL and half of a pair, on every way in: a value, a list, and rows.
    const odd = 'a\0b\ud800c';
    await store.addDomains([odd], { source: odd });
    assert.equal((await store.due(new Date(), 1)).length, 1);
    assert.equal((await store.scannedSince([odd], new Date(0))).size, 0);
    await store.feeds.add([{ url: 'https://a.example/', title: odd }], new Date(0));
    const feed = await store.feeds.find('https://a.example/');
    assert.ok(feed);
    assert.match(feed.state.title ?? '', /^a.b.+c$/);
    assert.ok(feed.state.title?.isWellFormed());
    const domains = [{ domain: 'x.com', kind: 'link' as const }];
    const item = { key: 'k', url: `https://a.example/${odd}`, title: odd, publishedAt: null, domains };
    const polled = { state: feed.state, feed: { items: [item] } };
    const options = { at: new Date(1), keepFrom: new Date(0) };
    assert.deepEqual(await store.feeds.record(feed.id, polled, options), { kind: 'recorded', items: 1, mentions: 1 });
    assert.deepEqual(await store.feeds.record(feed.id, polled, options), { kind: 'recorded', items: 0, mentions: 0 });
    assert.equal(await store.feeds.mentions.domain(odd), undefined);
    const [naming] = await store.feeds.mentions.feedsNaming('x.com', 1);
    assert.match(`${naming?.latest.title} ${naming?.latest.url}`, /^a.b.+c https:..a.example.a.b.+c$/);
    await store.answers.keep([
      { id: 'rwr_1', keyId: odd, body: '{"model":{"id":"m","sha256":"a"},"x":"\\u0000\\ud800"}' },
    ]);
    assert.deepEqual([...(await store.answers.modelNames())], [['a', 'm']]);
  });
});
