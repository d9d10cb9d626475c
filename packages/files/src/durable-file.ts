// Files and directories that survive a crash. What is durable when:
//   a killed process  a file has the old or the new content, never a mixture
//   a power failure   the same where `replaceFile` syncs the content; without it, the file may be empty
//   on return         new content and names are on the disk after `replaceFile` with `sync: 'all'`, `syncDirectory` and `makeDirectory`
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { giveToOwnerOf, systemCode } from './permission.ts';

export interface ReplaceOptions {
  /** Permission bits of the new file. */
  readonly mode?: number;
  /**
   * `content`: syncs the content before the file is renamed. `all`: also syncs the directory; without it the old content
   * may return after a power failure, until `syncDirectory`.
   */
  readonly sync: 'none' | 'content' | 'all';
  /** Other processes may replace the file concurrently; otherwise the caller holds its lock. */
  readonly isShared?: boolean;
}

/** Temporary files younger than this may belong to a running process. */
const LEFT_OVER_MS = 60_000;

/** Replaces a file atomically; a file written by root gets the owner of the directory. An error leaves the old file. */
export async function replaceFile(
  file: string,
  content: string | Uint8Array | Iterable<Uint8Array>,
  { mode, sync, isShared = false }: ReplaceOptions,
): Promise<void> {
  // Without sharing, the next call overwrites the temporary file of a killed process.
  const fresh = isShared ? `${file}.${randomUUID()}.new` : `${file}.new`;
  const handle = await openNew(fresh, mode);
  try {
    try {
      await giveToOwnerOf(path.dirname(file), handle);
      await handle.writeFile(content);
      if (sync !== 'none') await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => {});
    throw error;
  }
  if (sync === 'all') await syncDirectory(path.dirname(file));
}

/** Never opens an existing file: root may write in another user's directory, where a link might lead to a file of root. */
async function openNew(file: string, mode: number | undefined): Promise<FileHandle> {
  try {
    return await open(file, 'wx', mode);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    // A leftover of a killed process.
    await unlink(file);
    return open(file, 'wx', mode);
  }
}

/** Removes temporary files that killed processes left beside a file, in this version or an earlier one. */
export async function removeLeftOvers(file: string): Promise<void> {
  const [directory, name] = [path.dirname(file), `${path.basename(file)}.`];
  for (const entry of await readdir(directory)) {
    if (!entry.startsWith(name) || !entry.endsWith('.new')) continue;
    const leftOver = path.join(directory, entry);
    const { mtimeMs } = (await stat(leftOver).catch(() => undefined)) ?? { mtimeMs: 0 };
    if (mtimeMs < Date.now() - LEFT_OVER_MS) await rm(leftOver, { force: true });
  }
}

/** Codes of file systems that cannot sync a directory, whose names are durable as soon as these systems make them so. */
const UNSUPPORTED = ['EINVAL', 'ENOTSUP', 'ENOSYS', ...(process.platform === 'win32' ? ['EPERM', 'EISDIR'] : [])];

/** Makes created, renamed and removed names of a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  try {
    await using handle = await open(directory, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
    await handle.sync();
  } catch (error) {
    if (!UNSUPPORTED.includes(systemCode(error) ?? '')) throw error;
  }
}

/** The content of a file, or undefined if it does not exist. */
export async function readIfPresent(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Creates a directory and its parents, and makes the new names durable. One by one: the `recursive` of Node does not return in a file
 * system such as /proc, which has no parent for the new name.
 */
export async function makeDirectory(directory: string, { mode }: { readonly mode?: number } = {}): Promise<void> {
  const missing: string[] = [];
  for (let at = path.resolve(directory); !(await isDirectory(at)); at = path.dirname(at)) missing.unshift(at);
  for (const at of missing) {
    try {
      await mkdir(at, mode);
    } catch (error) {
      // Another process may have created it.
      if (systemCode(error) !== 'EEXIST' || !(await isDirectory(at))) throw error;
    }
    await syncDirectory(path.dirname(at));
  }
}

async function isDirectory(name: string): Promise<boolean> {
  try {
    return (await stat(name)).isDirectory();
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
}
