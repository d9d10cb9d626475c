import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, it } from 'node:test';
import { openStore, StoreError, type StoreErrorCode } from './index.ts';
import { confirm, GOOGLE, scanOf, storeConformance } from './test/conformance.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'strata-store-'));
after(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;
const freshFile = () => {
  files += 1;
  return path.join(directory, `${files}.db`);
};
const T0 = '2026-01-01T00:00:00.000Z';

storeConformance('SQLite in memory', () => openStore('sqlite::memory:'));
storeConformance('a SQLite file', () => openStore(`sqlite:${freshFile()}`));

describe('a SQLite file', () => {
  const filled = async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    for (let i = 0; i < 200; i += 1) await store.recordScan(scanOf(`d${i}.com`, T0, GOOGLE), confirm);
    return file;
  };
  const failsWith = (code: StoreErrorCode) => (error: unknown) =>
    error instanceof StoreError && error.code === code && error.cause !== undefined;

  const isLinkTo = (link: string, file: string) => {
    try {
      return readlinkSync(link) === file;
    } catch {
      return false; // Closed meanwhile.
    }
  };

  it('is opened again as it was left', async () => {
    const file = await filled();
    await using store = await openStore(`sqlite:${file}`);
    assert.equal((await store.counts()).scannedDomains, 200);
  });

  it('is touched in one scan and one domain by a look that sees the same', async () => {
    const file = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    await store.recordScan(scanOf('a.com', T0, GOOGLE), confirm);
    using database = new DatabaseSync(file);
    const rows = (table: string) => database.prepare(`SELECT * FROM ${table}`).all();
    const tables = ['services', 'evidence', 'events', 'changes'];
    const before = tables.map(rows);
    await store.recordScan(scanOf('a.com', '2026-01-02T00:00:00.000Z', GOOGLE), confirm);
    assert.deepEqual(tables.map(rows), before);
    assert.deepEqual([rows('scans').length, before.map((each) => each.length)], [2, [3, 1, 1, 0]]);
  });

  it('holds the count of requests and no key in clear when it is opened again', async () => {
    const url = `sqlite:${freshFile()}`;
    const { key, id } = await (async () => {
      await using store = await openStore(url);
      const { key, stored } = await store.keys.create({ tier: 'free' });
      for (let i = 0; i < 3; i += 1) await store.quota.take(stored.id, '2026-01-01', 50);
      return { key, id: stored.id };
    })();
    assert.ok(!readFileSync(url.slice('sqlite:'.length)).includes(key.slice(4)));
    await using store = await openStore(url);
    assert.equal((await store.keys.find(key))?.id, id);
    assert.deepEqual(await store.quota.take(id, '2026-01-01', 50), { isAllowed: true, used: 4 });
  });

  it('holds one quota for two processes', async () => {
    const url = `sqlite:${freshFile()}`;
    await using one = await openStore(url);
    await using other = await openStore(url);
    const { stored } = await one.keys.create({ tier: 'free' });
    const take = (i: number) => (i % 2 ? one : other).quota.take(stored.id, '2026-01-01', 30);
    const taken = await Promise.all(Array.from({ length: 60 }, (_, i) => take(i)));
    assert.equal(taken.filter((each) => each.isAllowed).length, 30);
  });

  it('is told to be no database, or damaged', async () => {
    const text = freshFile();
    writeFileSync(text, 'this is a letter to my aunt, and it is long enough to be looked at '.repeat(50));
    await assert.rejects(openStore(`sqlite:${text}`), failsWith('not-a-database'));
    const open = () => readdirSync('/proc/self/fd').filter((fd) => isLinkTo(`/proc/self/fd/${fd}`, text));
    if (existsSync('/proc/self/fd')) assert.deepEqual(open(), [], 'no handle is left open');

    const damaged = await filled();
    const handle = openSync(damaged, 'r+');
    for (let page = 1; page < 60; page += 1) writeSync(handle, Buffer.alloc(2_000, 0xa5), 0, 2_000, page * 4_096 + 8);
    const reading = async () => {
      await using store = await openStore(`sqlite:${damaged}`);
      for (let i = 0; i < 200; i += 1) await store.domain(`d${i}.com`);
      await store.recordScan(scanOf('new.com', T0, GOOGLE), confirm);
    };
    await assert.rejects(reading, failsWith('corrupt'));
  });

  it('is told to belong to another program', async () => {
    const file = freshFile();
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE recipes (name TEXT)');
    database.close();
    await assert.rejects(openStore(`sqlite:${file}`), failsWith('not-a-database'));
  });

  it('is told to be nowhere', async () => {
    await assert.rejects(openStore(`sqlite:${directory}`), failsWith('cannot-open'));
    await assert.rejects(openStore(`sqlite:${directory}/no/such/folder/x.db`), failsWith('cannot-open'));
    await assert.rejects(openStore('mysql://x'), /sqlite:/);
  });

  it('is told to be read-only', async () => {
    const file = await filled();
    // SQLite's own way to open a file that may not be written, which binds root too.
    await assert.rejects(openStore(`sqlite:file:${file}?mode=ro`), failsWith('read-only'));
  });

  it('gets its schema whole or not at all', async () => {
    const file = freshFile();
    using database = new DatabaseSync(file);
    database.exec('CREATE TABLE settings (in_the_way TEXT)');
    await assert.rejects(openStore(`sqlite:${file}`));
    const tables = () => database.prepare("SELECT name FROM sqlite_master WHERE name IN ('domains', 'scans')").all();
    assert.deepEqual(tables(), []);
    database.exec('DROP TABLE settings');
    await using store = await openStore(`sqlite:${file}`);
    assert.equal((await store.counts()).domains, 0);
    assert.equal(tables().length, 2);
  });

  it('gets its schema once when several processes open it first', async () => {
    const url = `sqlite:${freshFile()}`;
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
    const file = await filled();
    const database = new DatabaseSync(file);
    database.exec("INSERT INTO kysely_migration (name, timestamp) VALUES ('999-later', '2030-01-01')");
    database.close();
    await assert.rejects(openStore(`sqlite:${file}`), failsWith('newer-version'));
  });

  it('still reads, and says so when it cannot be written because the disk is full', async () => {
    const file = await filled();
    // A limit on the size of files is what a full disk looks like from here, and needs no disk.
    const script = `
      import { openStore } from ${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))};
      import { scanOf, confirm, GOOGLE } from ${JSON.stringify(path.join(import.meta.dirname, 'test/conformance.ts'))};
      process.on('SIGXFSZ', () => {});
      const store = await openStore('sqlite:' + process.argv[1]);
      try {
        for (let i = 0; i < 5000; i += 1) await store.recordScan(scanOf('n' + i + '.com', '${T0}', GOOGLE), confirm);
        console.log('no limit');
      } catch (error) { console.log(error.name, error.code); }
      console.log((await store.domain('d0.com'))?.domain);
    `;
    const node = process.execPath;
    const command = `ulimit -f 2000; exec "${node}" --input-type=module -e "$SCRIPT" "${file}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', command], {
      env: { ...process.env, SCRIPT: script },
      encoding: 'utf8',
    });
    assert.match(stdout, /^StoreError (disk-full|io-error)\nd0\.com\n$/, stderr);
  });

  it('loses nothing that was acknowledged when its process is killed', async () => {
    const file = freshFile();
    const acknowledged: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const child = spawn(
        process.execPath,
        [path.join(import.meta.dirname, 'test/recorder-process.ts'), `sqlite:${file}`, `r${round}`],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      const exited = once(child, 'exit');
      let seen = 0;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        seen += 1;
        if (seen === 40 + round * 13) child.kill('SIGKILL');
      }
      await exited;
    }
    const copy = freshFile();
    await using store = await openStore(`sqlite:${file}`);
    for (const domain of acknowledged) assert.ok(await store.domain(domain), domain);
    assert.ok(acknowledged.length >= 300);
    copyFileSync(file, copy);
    const database = new DatabaseSync(file);
    assert.deepEqual({ ...database.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    assert.deepEqual(database.prepare('PRAGMA foreign_key_check').all(), []);
    database.close();
  });
});
