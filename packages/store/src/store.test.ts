// The store wherever it keeps what it is told: as it was left, for several processes at once, and through kills.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { openStore } from './index.ts';
import { failsWith } from './test/fails-with.ts';
import { exec, kept, onEach, pathOf, rows } from './test/places.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

onEach(kept, 'a store', (place) => {
  it('is opened again as it was left', async () => {
    const url = await place.fresh();
    {
      await using store = await openStore(url);
      for (let i = 0; i < 20; i += 1) await store.recordScan(scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
    }
    await using store = await openStore(url);
    assert.equal((await store.counts()).scannedDomains, 20);
  });

  it('is touched in one scan and one domain by a look that sees the same', async () => {
    const url = await place.fresh();
    await using store = await openStore(url);
    await store.recordScan(scanOf('a.com', day(0), GOOGLE), confirm);
    const tables = ['services', 'evidence', 'events', 'changes'];
    const read = () => Promise.all(tables.map((table) => rows(url, `SELECT * FROM ${table}`)));
    const before = await read();
    await store.recordScan(scanOf('a.com', day(1), GOOGLE), confirm);
    assert.deepEqual(await read(), before);
    const scans = await rows(url, 'SELECT * FROM scans');
    assert.deepEqual([scans.length, before.map((each) => each.length)], [2, [3, 1, 1, 0]]);
  });

  it('holds the count of requests and no key in clear when it is opened again', async () => {
    const url = await place.fresh();
    const { key, id } = await (async () => {
      await using store = await openStore(url);
      const { key, stored } = await store.keys.create({ tier: 'free' });
      for (let i = 0; i < 3; i += 1) await store.quota.take(stored.id, '2026-01-01', 50);
      return { key, id: stored.id };
    })();
    const [row] = await rows(url, 'SELECT * FROM api_keys');
    assert.ok(row && !JSON.stringify(row).includes(key.slice(4)));
    const file = pathOf(url);
    if (file !== undefined) assert.ok(!readFileSync(file).includes(key.slice(4)));
    await using store = await openStore(url);
    assert.equal((await store.keys.find(key))?.id, id);
    assert.deepEqual(await store.quota.take(id, '2026-01-01', 50), { isAllowed: true, used: 4 });
  });

  it('holds one quota for two processes', async () => {
    const url = await place.fresh();
    await using one = await openStore(url);
    await using other = await openStore(url);
    const { stored } = await one.keys.create({ tier: 'free' });
    const take = (i: number) => (i % 2 ? one : other).quota.take(stored.id, '2026-01-01', 30);
    const taken = await Promise.all(Array.from({ length: 60 }, (_, i) => take(i)));
    assert.equal(taken.filter((each) => each.isAllowed).length, 30);
    assert.equal(await one.quota.used(stored.id, '2026-01-01'), 30);
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

  it('gets its schema once when several processes open it first', async () => {
    const url = await place.empty();
    const script = `
      import { openStore } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))};
      await using store = await openStore(process.argv[1]);
      await store.addDomains([process.pid + '.com'], { source: 'test' });
    `;
    const children = [1, 2, 3].map(() =>
      spawn(process.execPath, ['--input-type=module', '-e', script, url], { stdio: ['ignore', 'ignore', 'inherit'] }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    assert.deepEqual(codes, [0, 0, 0]);
    await using store = await openStore(url);
    assert.equal((await store.counts()).domains, 3);
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

  it('loses nothing that was acknowledged when its process is killed', async () => {
    const url = await place.fresh();
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const child = spawn(
        process.execPath,
        [path.join(import.meta.dirname, 'test/recorder-process.ts'), url, `r${round}`],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const exited = once(child, 'exit');
      let seen = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        seen += 1;
        if (seen === 30 + round * 13) child.kill('SIGKILL');
      }
      await exited;
    }
    await using store = await openStore(url);
    for (const domain of acknowledged) assert.equal((await store.domain(domain))?.services.length, 3, domain);
    assert.ok(acknowledged.length >= 190);
    // What was not acknowledged is there whole or not at all.
    const { domains, scannedDomains, scans, services } = await store.counts();
    assert.deepEqual([scannedDomains, scans, services], [domains, domains, 3 * domains]);
    assert.equal((await rows(url, 'SELECT seq FROM events')).length, domains);
    // A server checks its references itself.
    if (pathOf(url) === undefined) return;
    assert.deepEqual(await rows(url, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    assert.deepEqual(await rows(url, 'PRAGMA foreign_key_check'), []);
  });
});
