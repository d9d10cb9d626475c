// What only a file can be: damaged, no database, another program's, nowhere, read-only. A full disk: kill.full.test.ts.
import assert from 'node:assert/strict';
import { existsSync, openSync, readdirSync, readlinkSync, writeFileSync, writeSync } from 'node:fs';
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
  const filled = async () => {
    const file = freshPath();
    await using store = await openStore(`sqlite:${file}`);
    for (let i = 0; i < 100; i += 1) await store.recordScan(scanOf(`d${i}.com`, day(0), GOOGLE), confirm);
    return file;
  };
  const isLinkTo = (link: string, file: string) => {
    try {
      return readlinkSync(link) === file;
    } catch {
      return false; // Closed meanwhile.
    }
  };

  it('is told to be no database, or damaged', async () => {
    const text = freshPath();
    writeFileSync(text, 'this is a letter to my aunt, and it is long enough to be looked at '.repeat(50));
    await assert.rejects(openStore(`sqlite:${text}`), failsWith('not-a-database'));
    const open = () => readdirSync('/proc/self/fd').filter((fd) => isLinkTo(`/proc/self/fd/${fd}`, text));
    if (existsSync('/proc/self/fd')) assert.deepEqual(open(), [], 'no handle is left open');

    const damaged = await filled();
    const handle = openSync(damaged, 'r+');
    for (let page = 1; page < 60; page += 1) writeSync(handle, Buffer.alloc(2_000, 0xa5), 0, 2_000, page * 4_096 + 8);
    const reading = async () => {
      await using store = await openStore(`sqlite:${damaged}`);
      for (let i = 0; i < 100; i += 1) await store.domain(`d${i}.com`);
      await store.recordScan(scanOf('new.com', day(0), GOOGLE), confirm);
    };
    await assert.rejects(reading, failsWith('corrupt'));
  });

  it('is told to belong to another program', async () => {
    const file = freshPath();
    await exec(`sqlite:${file}`, 'CREATE TABLE recipes (name TEXT)');
    await assert.rejects(openStore(`sqlite:${file}`), failsWith('not-a-database'));
  });

  it('is told to be nowhere', async () => {
    await assert.rejects(openStore(`sqlite:${path.dirname(freshPath())}`), failsWith('cannot-open'));
    await assert.rejects(
      openStore(`sqlite:${path.dirname(freshPath())}/no/such/folder/x.db`),
      failsWith('cannot-open'),
    );
    for (const url of ['mysql://x', 'postgres:x', 'x.db', ''])
      await assert.rejects(openStore(url), /must begin with sqlite: .* or with postgres:/);
  });

  it('is told to be read-only', async () => {
    const file = await filled();
    // SQLite's own way to open a file that may not be written, which binds root too.
    await assert.rejects(openStore(`sqlite:file:${file}?mode=ro`), failsWith('read-only'));
  });

  it('reports a disk that is full', async () => {
    const database = openDatabase(pathOf(await file.fresh()) ?? '');
    // What has no page left is full, as a disk without room is.
    database.exec('PRAGMA max_page_count = 1');
    await using db = new Kysely<Database>({ dialect: sqliteDialect(database) });
    const value = 'x'.repeat(100_000);
    await assert.rejects(db.insertInto('settings').values({ name: 'x', value }).execute(), failsWith('disk-full'));
  });
});
