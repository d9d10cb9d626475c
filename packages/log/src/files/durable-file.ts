// Atomic replacement of files: after a crash a file has either the old or the new content.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { giveToOwnerOf, systemCode } from './permission.ts';

export interface ReplaceOptions {
  /** Permission bits of a new file. */
  readonly mode?: number;
  /** Calls fsync. Without it the file survives a killed process, but not a power failure. */
  readonly isSynced: boolean;
  /** Other processes may replace the file concurrently; otherwise the caller holds its lock. */
  readonly isShared?: boolean;
}

/** Temporary files younger than this may belong to a running process. */
const LEFT_OVER_MS = 60_000;

/** Replaces a file atomically; a file written by root gets the owner of the directory. With `isSynced`, the caller must still call `syncDirectory`. */
export async function replaceFile(
  file: string,
  bytes: Uint8Array,
  { mode, isSynced, isShared = false }: ReplaceOptions,
): Promise<void> {
  // Without sharing, the next call overwrites the temporary file of a killed process.
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

/** Makes created, renamed and removed names of a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0));
  try {
    await handle.sync();
  } finally {
    await handle.close();
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

/** Creates a directory and its parents, and makes the new names durable. */
export async function makeDirectory(directory: string, { mode }: { readonly mode?: number } = {}): Promise<void> {
  const first = await mkdir(directory, { recursive: true, ...(mode !== undefined && { mode }) });
  if (first === undefined) return;
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
  }
}
