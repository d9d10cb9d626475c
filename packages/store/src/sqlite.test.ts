// What only a file can be: damaged, no database, another program's, missing, read-only, on a full disk.
import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readdirSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Kysely } from 'kysely';
import { openStore } from './index.ts';
import type { Database } from './schema.ts';
import { openDatabase, sqliteDialect } from './sqlite-dialect.ts';
import { failsWith } from './test/fails-with.ts';
import { exec, file, freshPath, pathOf } from './test/places.ts';
import { confirm, day, GOOGLE, scanOf } from './test/scans.ts';

describe('a SQLite file', () => {
  it('is refused where it is not a database, or damaged', async () => {
    const text = freshPath();
    writeFileSync(text, 'this is a letter to my aunt, and it is long enough to be read '.repeat(50));
    await assert.rejects(openStore(`sqlite:${text}`), failsWith('not-a-database'));
    const isOpen = (fd: string) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === text;
      } catch {
        return false; // Closed by now.
      }
    };
    if (existsSync('/proc/self/fd')) assert.deepEqual(readdirSync('/proc/self/fd').filter(isOpen), []);

    const damaged = await file.fresh();
    const names = Array.from({ length: 100 }, (_, i) => `d${i}.com`);
    {
      await using store = await openStore(damaged);
      for (const name of names) await store.recordScan(scanOf(name, day(0), GOOGLE), confirm);
    }
    const handle = openSync(pathOf(damaged) ?? '', 'r+');
    for (let page = 1; page < 60; page += 1) writeSync(handle, Buffer.alloc(2_000, 0xa5), 0, 2_000, page * 4_096 + 8);
    closeSync(handle);
    const reading = async () => {
      await using store = await openStore(damaged);
      for (const name of names) await store.domain(name);
      await store.recordScan(scanOf('new.com', day(0), GOOGLE), confirm);
    };
    await assert.rejects(reading, failsWith('corrupt'));
  });

  it('is refused where it belongs to another program, is missing or read-only', async () => {
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

  it('reports a disk that is full, and is still read', async () => {
    const database = openDatabase(pathOf(await file.fresh()) ?? '');
    // A file that has no page left is full, as a disk is.
    database.exec('PRAGMA max_page_count = 1');
    await using db = new Kysely<Database>({ dialect: sqliteDialect(database) });
    const value = 'x'.repeat(100_000);
    await assert.rejects(db.insertInto('settings').values({ name: 'x', value }).execute(), failsWith('disk-full'));
    assert.ok((await db.selectFrom('settings').select('name').execute()).length > 0);
  });
});
