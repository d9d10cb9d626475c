// Files that are either the old or the new version after a crash, never something between.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { giveToOwnerOf } from './permission.ts';
import { systemCode } from './system-code.ts';

export interface ReplaceOptions {
  /** Permission bits of a new file. */
  readonly mode?: number;
  /** Waits until the bytes are on the disk. Without it the file is whole after a killed process, not after a power cut. */
  readonly isSynced: boolean;
  /** Other processes may replace the file at the same time; otherwise this one holds its lock. */
  readonly isShared?: boolean;
}

/** A file that another process is replacing now is younger. */
const LEFT_OVER_MS = 60_000;

/** Replaces a file in one step; what root writes gets the owner of the directory. With `isSynced`, the caller still owes a `syncDirectory` for the new name. */
export async function replaceFile(
  file: string,
  bytes: Uint8Array,
  { mode, isSynced, isShared = false }: ReplaceOptions,
): Promise<void> {
  // What a kill leaves under the name of the owner is replaced the next time.
  const fresh = isShared ? `${file}.${randomUUID()}.new` : `${file}.new`;
  const handle = await openNew(fresh, mode);
  try {
    await giveToOwnerOf(path.dirname(file), handle);
    await handle.writeFile(bytes);
    if (isSynced) await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, file);
}

/** Never what stands there already: root writes in another user's directory, where a link might lead to a file of root's. */
async function openNew(file: string, mode: number | undefined): Promise<FileHandle> {
  try {
    return await open(file, 'wx', mode);
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    // Left by a process that was killed.
    await unlink(file);
    return open(file, 'wx', mode);
  }
}

/** Removes what processes that were killed while they replaced a file left beside it, in this version or an earlier one. */
export async function removeLeftOvers(file: string): Promise<void> {
  const [directory, name] = [path.dirname(file), `${path.basename(file)}.`];
  for (const entry of await readdir(directory)) {
    if (!entry.startsWith(name) || !entry.endsWith('.new')) continue;
    const leftOver = path.join(directory, entry);
    const { mtimeMs } = (await stat(leftOver).catch(() => undefined)) ?? { mtimeMs: 0 };
    if (mtimeMs < Date.now() - LEFT_OVER_MS) await rm(leftOver, { force: true });
  }
}

/** Makes names created, renamed or removed in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file's bytes, or undefined when there is none. */
export async function readIfPresent(file: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Creates a directory and its parents, with permission bits if need be, and makes the new names durable. */
export async function makeDirectory(directory: string, { mode }: { readonly mode?: number } = {}): Promise<void> {
  const first = await mkdir(directory, { recursive: true, ...(mode !== undefined && { mode }) });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
  }
}
