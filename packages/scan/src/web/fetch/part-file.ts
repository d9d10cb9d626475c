// A partial download: `<file>.part` with its bytes, and `<file>.part.json` with the identity of its document.
//
// After a crash: the note is removed before bytes of another document are written, and written before the first byte of its own
// document. So bytes with a note are the beginning of the document in the note, and bytes without a note are discarded. A note
// without bytes remains from a crash after the rename, and is ignored.
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The identity of a document. */
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

/** The partial file of `url`, if it can be resumed. */
export async function findPart(file: string, url: string): Promise<Part | undefined> {
  const [bytes, note] = await Promise.all([sizeOf(`${file}.part`), readNote(`${file}.part.json`)]);
  if (bytes === undefined || note === undefined || note.url !== url) return undefined;
  const validator = validatorOf(note);
  const { totalBytes } = note;
  if (validator === undefined || (totalBytes !== null && bytes > totalBytes)) return undefined;
  // Of a complete partial file the last byte is requested again, to verify that the document is unchanged.
  const doneBytes = bytes === totalBytes ? bytes - 1 : bytes;
  return doneBytes > 0 ? { ...note, doneBytes, validator } : undefined;
}

/** Opens an empty partial file. */
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

/** Opens a partial file to append after its first `doneBytes`. */
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

/** Renames a complete, synced and closed partial file. */
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

/** Undefined if the note is unreadable: its partial file is then discarded. */
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
