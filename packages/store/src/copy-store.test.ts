// A SQLite store copied to PostgreSQL: the same answers, the same numbers to come, and all or nothing.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { copyToPostgres, openStore } from './index.ts';
import { contentsOf, fill } from './test/filled-store.ts';
import { streamEvent } from './test/notifications.ts';
import { exec, freshPath, onEach, postgres, rows } from './test/places.ts';
import { confirm, GOOGLE, scanOf } from './test/scans.ts';

let filled: Promise<string> | undefined;
/** Of more rows than are copied at once. */
const filledFile = () => {
  filled ??= (async () => {
    const path = freshPath();
    await using store = await openStore(`sqlite:${path}`);
    await fill(store, { domains: 700, times: 3 });
    await store.stream.prune(3, 10);
    await store.stream.prune(4, 10);
    return path;
  })();
  return filled;
};

onEach([postgres], 'a copied store', ({ fresh, empty }) => {
  it('answers as it did, and goes on with the numbers that come next', async () => {
    const [file, url] = [await filledFile(), await empty()];
    const progress = new Set<string>();
    const onProgress = ({ table, isComparing }: { readonly table: string; readonly isComparing: boolean }) =>
      void progress.add(`${table} ${isComparing}`);
    const tables = await copyToPostgres(file, url, { onProgress });
    assert.ok(progress.has('scans false') && progress.has('scans true'));
    for (const { table, rows: copied } of tables)
      assert.deepEqual(await rows(`sqlite:${file}`, `SELECT count(*) AS n FROM ${table}`), [{ n: copied }], table);
    assert.equal(tables.find(({ table }) => table === 'scans')?.rows, 2_100);
    await using before = await openStore(`sqlite:${file}`);
    await using now = await openStore(url);
    assert.deepEqual(await contentsOf(now), await contentsOf(before));
    assert.equal(await now.feed.storeId(), await before.feed.storeId());
    const [feed] = await now.feeds.list({ after: 0, limit: 1 });
    assert.equal(feed?.state.error, 'with a NUL \ufffd', 'PostgreSQL keeps none');
    for (const store of [before, now]) {
      await store.recordScan(scanOf('new.com', '2026-02-01T00:00:00.000Z', GOOGLE), confirm);
      const [next] = (await store.stream.append([streamEvent(9)], { from: 1, to: 2 })) ?? [];
      assert.equal(next?.seq, 4, 'a number of a deleted row does not come back');
    }
    assert.deepEqual(await contentsOf(now), await contentsOf(before));
  });

  it('is complete or empty: stopped, it can be begun again', async () => {
    const [file, url] = [await filledFile(), await fresh()];
    const stopping = new AbortController();
    const onProgress = ({ table }: { readonly table: string }) =>
      table === 'scans' && stopping.abort(new Error('stopped'));
    await assert.rejects(copyToPostgres(file, url, { onProgress, signal: stopping.signal }), /stopped/);
    assert.deepEqual(await rows(url, 'select id from domains'), []);
    // What is read again differs: it is not taken over.
    await exec(
      url,
      `create function worse() returns trigger language plpgsql as 'begin new.source = ''x''; return new; end';
       create trigger worse before insert on domains for each row when (new.id = 5) execute function worse()`,
    );
    await assert.rejects(copyToPostgres(file, url), { name: 'StoreError', code: 'copy-differs' });
    assert.deepEqual(await rows(url, 'select id from domains'), []);
    await exec(url, 'drop trigger worse on domains');
    await copyToPostgres(file, url);
    await assert.rejects(copyToPostgres(file, url), { name: 'StoreError', code: 'not-empty' });
  });
});
