// A lock has one holder, ends with its process, and is taken where an earlier version left its file; network file systems have names.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { casesOf, temporaryDirectory } from '../../../tests/support/index.ts';
import { holderOf, lockedDirectories, lockFile, networkFileSystemOf, waitForLock, warnOfFileSystem } from './index.ts';

/** A path for a lock in a directory of its own. */
async function temporaryLock() {
  const directory = await temporaryDirectory();
  const owned = { file: path.join(directory.path, 'lock'), [Symbol.asyncDispose]: () => directory.remove() };
  return { ...directory, directory: directory.path, ...owned };
}

const assertHeld = (lock: Disposable | undefined): Disposable => lock ?? assert.fail('it is held');

it('the lock of a file has one holder, whom other processes can name, and is free after it', async () => {
  await using at = await temporaryLock();
  const held = assertHeld(lockFile(at.file));
  assert.equal(lockFile(at.file), undefined);
  assert.match(holderOf(at.file), new RegExp(`^process ${process.pid} on ${hostname()} since 20`));
  assert.equal(await waitForLock(at.file, { waitMs: 1 }), undefined);
  const waiting = waitForLock(at.file, { waitMs: 60_000 });
  held[Symbol.dispose]();
  using _next = assertHeld(await waiting);
  await assert.rejects(waitForLock(at.file, { waitMs: 9, signal: AbortSignal.abort() }), { name: 'AbortError' });
});

it('the lock of a file is held as long as its process lives, and free once that is killed', async () => {
  await using at = await temporaryLock();
  const program = `import(${JSON.stringify(path.join(import.meta.dirname, 'index.ts'))}).then(({ lockFile }) => {
      globalThis.lock = lockFile(${JSON.stringify(at.file)}); console.log('held'); setInterval(() => {}, 1_000); })`;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  assert.equal(lockFile(at.file), undefined);
  assert.match(holderOf(at.file), new RegExp(`^process ${child.pid} `));
  child.kill('SIGKILL');
  await ended;
  using _lock = assertHeld(lockFile(at.file));
});

it('the lock of a file is taken where an earlier version left a file, and never over what is longer', async () => {
  await using at = await temporaryLock();
  for (const left of [`${process.pid} 1\n`, '1 17\n', 'garbage', '\0'.repeat(9)]) {
    writeFileSync(at.file, left);
    using _lock = assertHeld(lockFile(at.file));
    assert.equal(lockFile(at.file), undefined, left);
  }
  writeFileSync(at.file, 'x'.repeat(4_096));
  assert.throws(() => lockFile(at.file), { name: 'FileLockError', code: 'EIO', path: at.file });
  const link = path.join(at.directory, 'link');
  writeFileSync(path.join(at.directory, 'short'), 'of another user');
  symlinkSync('short', link);
  assert.throws(() => lockFile(link), { code: 'ELOOP' });
  assert.equal(readFileSync(path.join(at.directory, 'short'), 'utf8'), 'of another user');
});

it('the lock of a file is refused where the file cannot be written, with the code of the system', async (t) => {
  await using at = await temporaryLock();
  assert.throws(() => lockFile(path.join(at.directory, 'none', 'lock')), { code: 'ENOENT' });
  if (process.geteuid?.() !== 0) return t.skip('only root can be another user for a moment');
  const below = path.join(at.directory, 'below');
  mkdirSync(below, { mode: 0o755 });
  writeFileSync(at.file, '', { mode: 0o644 });
  process.seteuid?.(65_534);
  try {
    assert.throws(() => lockFile(path.join(below, 'lock')), { code: 'EACCES' });
  } finally {
    process.seteuid?.(0);
  }
  assert.ok(!existsSync(path.join(below, 'lock')));
});

it('the lock of a file that root makes belongs to the owner of the directory', async (t) => {
  await using at = await temporaryLock();
  if (process.geteuid?.() !== 0) return t.skip('only root gives files away');
  const below = path.join(at.directory, 'below');
  mkdirSync(below);
  chownSync(below, 65_534, 65_534);
  using _lock = assertHeld(lockFile(path.join(below, 'lock')));
  const { uid, mode } = statSync(path.join(below, 'lock'));
  assert.deepEqual([uid, mode & 0o777], [65_534, 0o600]);
});

it('a file system is named where its locks may not hold between machines', () => {
  for (const [type, name] of casesOf<[string, string][]>('db', 'types of network file systems'))
    assert.match(networkFileSystemOf('/data', () => ({ type: Number(type) })) ?? 'none', new RegExp(name));
  for (const type of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630]) {
    const found = networkFileSystemOf('/data', () => ({ type }));
    assert.equal(found, undefined);
  }
});

it('the file system of a directory that is not made yet is that of its parent', () => {
  const asked: string[] = [];
  const statfs = (at: string) => {
    asked.push(at);
    if (at !== '/data') throw new Error('not found');
    return { type: 0x6969 };
  };
  assert.equal(networkFileSystemOf('/data/a/b', statfs), 'NFS');
  assert.deepEqual(asked, ['/data/a/b', '/data/a', '/data']);
  const warnings: string[] = [];
  warnOfFileSystem('/data/a/b', { warn: (text) => warnings.push(text) }, statfs);
  assert.match(warnings.join('\n'), /^\/data\/a\/b is on NFS, where locks may not work/);
});

it('the file system is asked of the data directory and of that of a database elsewhere', () => {
  const of = (databaseUrl: string) => lockedDirectories({ dataDirectory: '/data', databaseUrl });
  assert.deepEqual(of('sqlite:/data/strata.db'), ['/data']);
  assert.deepEqual(of('sqlite:/mnt/nfs/strata.db'), ['/data', '/mnt/nfs']);
  for (const url of ['sqlite::memory:', 'postgres://127.0.0.1/strata']) assert.deepEqual(of(url), ['/data']);
});
