// A partial download: `<file>.part` with the bytes received so far, and `<file>.part.json`, a note that identifies the document
// they belong to.
//
// The note is removed before bytes of another document are written, and written before the first byte of its own. A crash leaves:
//   part + note    the part is the beginning of the document in the note, and can be resumed
//   part, no note  unknown bytes, which are overwritten
//   file + note    the part was renamed; the note is ignored, unless the caller keeps notes of complete files
// Bytes written shortly before a power loss may be wrong; only a digest of the complete file detects this.
import { type FileHandle, mkdir, open, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { DiskError, formatSize, onDisk } from './disk-error.ts';
import { replaceFile, syncDirectory } from './durable-file.ts';

/** Identifies a document; the names are those of the file. */
export interface DocumentNote {
  /** Its address, without credentials. */
  readonly source: string;
  readonly sizeBytes?: number | undefined;
  /** Hex; published by the source, and always known of a complete file that keeps its note. */
  readonly sha256?: string | undefined;
  /** Strong. */
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

const MAX_NOTE_BYTES = 32 * 1024;

/** One instance at a time: the caller holds a lock. Rejects with DiskError. */
export class PartFile implements AsyncDisposable {
  readonly path: string;
  readonly #file: string;
  readonly #notePath: string;
  #handle: FileHandle | undefined;
  #note: DocumentNote | undefined;
  #sizeBytes = 0;

  private constructor(file: string) {
    this.#file = file;
    this.path = `${file}.part`;
    this.#notePath = `${file}.part.json`;
  }

  /** Opens an existing part; creates nothing before `begin`. */
  static async open(file: string): Promise<PartFile> {
    const part = new PartFile(file);
    const found = await stat(part.path).catch(() => undefined);
    if (!found?.isFile()) return part;
    part.#note = await readDocumentNote(part.#notePath);
    if (part.#note === undefined) return part;
    part.#handle = await part.#doing('open', open(part.path, 'r+'));
    part.#sizeBytes = found.size;
    return part;
  }

  /** Bytes received. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get note(): DocumentNote | undefined {
    return this.#note;
  }

  /** Empties the part; bytes appended from now on belong to the document in the note. */
  async begin(note: DocumentNote): Promise<void> {
    await this.discard();
    await this.#doing('create the folder of', mkdir(path.dirname(this.path), { recursive: true }));
    this.#handle = await this.#doing('create', open(this.path, 'w+'));
    await this.remember(note);
  }

  /** Replaces the note atomically. */
  async remember(note: DocumentNote): Promise<void> {
    const writing = replaceFile(this.#notePath, JSON.stringify(note), { sync: 'content' });
    await this.#doing('write the note of', writing);
    this.#note = note;
  }

  /** Keeps the first bytes only. */
  async truncate(sizeBytes: number): Promise<void> {
    await this.#doing('truncate', this.#opened.truncate(sizeBytes));
    this.#sizeBytes = sizeBytes;
  }

  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const writing = this.#opened.write(bytes, at, bytes.length - at, this.#sizeBytes);
      const { bytesWritten } = await this.#doing('write', writing);
      at += bytesWritten;
      this.#sizeBytes += bytesWritten;
    }
  }

  /** Rejects with DiskError `ENOSPC` where the remaining bytes of the note's document do not fit on the disk. */
  async checkFreeSpace(): Promise<void> {
    const disk = await statfs(path.dirname(this.path)).catch(() => undefined);
    const free = disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
    const needed = (this.#note?.sizeBytes ?? 0) - this.#sizeBytes;
    if (needed <= free) return;
    const needs = `${path.basename(this.#file)} needs ${formatSize(needed)} more, and ${formatSize(free)} are free`;
    throw new DiskError('ENOSPC', `the disk is full: ${needs}`);
  }

  /** Renames the part to the file, replacing an older one, and its note to `notePath`, or removes it. */
  async complete(notePath?: string): Promise<void> {
    await this.#doing('write', this.#opened.sync());
    await this[Symbol.asyncDispose]();
    await this.#doing('rename', rename(this.path, this.#file));
    const note = notePath === undefined ? rm(this.#notePath, { force: true }) : rename(this.#notePath, notePath);
    await this.#doing('rename the note of', note);
    await this.#doing('sync the folder of', syncDirectory(path.dirname(this.#file)));
  }

  /** Deletes the received bytes. */
  async discard(): Promise<void> {
    await this[Symbol.asyncDispose]();
    await this.#doing('remove the note of', rm(this.#notePath, { force: true }));
    await this.#doing('remove', rm(this.path, { force: true }));
    this.#note = undefined;
    this.#sizeBytes = 0;
  }

  /** Keeps the received bytes for the next download. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  get #opened(): FileHandle {
    if (!this.#handle) throw new Error('write before begin');
    return this.#handle;
  }

  #doing<T>(what: string, work: Promise<T>): Promise<T> {
    return onDisk(`${what} ${path.basename(this.path)}`, work);
  }
}

/** Undefined if the file is missing or invalid. */
export async function readDocumentNote(file: string): Promise<DocumentNote | undefined> {
  try {
    if ((await stat(file)).size > MAX_NOTE_BYTES) return undefined;
    return documentNoteOf(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** `url` and `totalBytes` are names of an earlier version, which wrote null for unknown values. */
function documentNoteOf(json: Record<string, unknown>): DocumentNote | undefined {
  const { url, totalBytes, source = url, sizeBytes = totalBytes, sha256, etag, lastModified } = json;
  const texts = [sha256, etag, lastModified].filter((value) => value !== undefined && value !== null);
  const isSize = (sizeBytes ?? undefined) === undefined || (Number.isSafeInteger(sizeBytes) && Number(sizeBytes) >= 0);
  const isSha256 = sha256 === undefined || /^[0-9a-f]{64}$/.test(String(sha256));
  if (typeof source !== 'string' || !isSize || !isSha256 || !texts.every((text) => typeof text === 'string'))
    return undefined;
  const known = Object.entries({ source, sizeBytes, sha256, etag, lastModified });
  return Object.fromEntries(known.filter(([, value]) => (value ?? undefined) !== undefined)) as unknown as DocumentNote;
}
