// A download that is not whole yet: `<file>.part` with its bytes, and beside it in `<file>.part.json` what they are of.
//
// The crash story: the note is removed before the bytes of another document come, and written before the first of its
// own. So bytes with a note are the beginning of what the note names; bytes without one are begun anew. A note without
// bytes is left by a crash after the rename, and says nothing.
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What identifies a document. */
export interface PartNote {
  readonly url: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly totalBytes: number | null;
}

export interface Part extends PartNote {
  readonly doneBytes: number;
  /** For `If-Range`: a strong ETag, or else Last-Modified (RFC 9110 §13.1.5). */
  readonly validator: string;
}

const MAX_NOTE_BYTES = 32 * 1024;
const MAX_VALIDATOR_LENGTH = 1_024;

/** The part of `url` that can be gone on with. */
export async function findPart(file: string, url: string): Promise<Part | undefined> {
  const [bytes, note] = await Promise.all([sizeOf(`${file}.part`), readNote(`${file}.part.json`)]);
  if (bytes === undefined || note === undefined || note.url !== url) return undefined;
  const validator = validatorOf(note);
  const { totalBytes } = note;
  if (validator === undefined || (totalBytes !== null && bytes > totalBytes)) return undefined;
  // Of a part that is whole already, the last byte is asked for again: so the server tells whether it is still the same.
  const doneBytes = bytes === totalBytes ? bytes - 1 : bytes;
  return doneBytes > 0 ? { ...note, doneBytes, validator } : undefined;
}

/** Opens an empty part. */
export async function beginPart(file: string, note: PartNote): Promise<FileHandle> {
  await rm(`${file}.part.json`, { force: true });
  const handle = await open(`${file}.part`, 'w');
  try {
    await writeNote(`${file}.part.json`, {
      ...note,
      etag: bounded(note.etag),
      lastModified: bounded(note.lastModified),
    });
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Opens a part to write behind its first `doneBytes`. */
export async function continuePart(file: string, doneBytes: number): Promise<FileHandle> {
  const handle = await open(`${file}.part`, 'a');
  try {
    await handle.truncate(doneBytes);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Gives a part that is whole and closed its name. Its bytes have been synced. */
export async function finishPart(file: string): Promise<void> {
  await rename(`${file}.part`, file);
  await rm(`${file}.part.json`, { force: true });
  await syncDirectory(dirname(file));
}

export async function discardPart(file: string): Promise<void> {
  await rm(`${file}.part.json`, { force: true });
  await rm(`${file}.part`, { force: true });
}

function validatorOf({ etag, lastModified }: PartNote): string | undefined {
  return etag !== null && /^"[^"]*"$/.test(etag) ? etag : (lastModified ?? undefined);
}

function bounded(validator: string | null): string | null {
  return validator !== null && validator.length <= MAX_VALIDATOR_LENGTH ? validator : null;
}

async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(unlessMissing);
  return found?.isFile() ? found.size : undefined;
}

/** A note that cannot be read is none: what it stands beside is begun anew. */
async function readNote(path: string): Promise<PartNote | undefined> {
  if (((await sizeOf(path)) ?? Infinity) > MAX_NOTE_BYTES) return undefined;
  const text = await readFile(path, 'utf8').catch(unlessMissing);
  try {
    const note: unknown = JSON.parse(text ?? '');
    return isNote(note) ? note : undefined;
  } catch {
    return undefined;
  }
}

function isNote(note: unknown): note is PartNote {
  if (typeof note !== 'object' || note === null) return false;
  const { url, etag, lastModified, totalBytes } = note as Record<string, unknown>;
  return (
    typeof url === 'string' &&
    (etag === null || typeof etag === 'string') &&
    (lastModified === null || typeof lastModified === 'string') &&
    (totalBytes === null || (Number.isSafeInteger(totalBytes) && (totalBytes as number) >= 0))
  );
}

async function writeNote(path: string, note: PartNote): Promise<void> {
  const handle = await open(path, 'w');
  try {
    await handle.writeFile(JSON.stringify(note));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
