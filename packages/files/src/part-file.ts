// A partial download: `<file>.part` with the bytes received so far, and `<file>.part.json`, a note that identifies the document
// they belong to.
//
// The note is removed before bytes of another document are written, and written before the first byte of its own. A crash leaves:
//   part + note    the part is the beginning of the document in the note, and can be resumed
//   part, no note  unknown bytes, which are overwritten
//   file + note    the part was renamed; the note is ignored, unless the caller keeps notes of complete files
// Bytes written shortly before a power loss may be wrong; only a digest of the complete file detects this.
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile, syncDirectory } from './durable-file.ts';

export interface PartFileOptions<Note> {
  /** Undefined for an invalid note: its part is then discarded. */
  readonly readNote: (json: unknown) => Note | undefined;
  /** Awaits all work on files; replaces their errors. */
  readonly onDisk?: <T>(doing: string, work: Promise<T>) => Promise<T>;
}

const MAX_NOTE_BYTES = 32 * 1024;

/** One instance at a time: the caller holds a lock. */
export class PartFile<Note> implements AsyncDisposable {
  readonly path: string;
  readonly #file: string;
  readonly #notePath: string;
  readonly #onDisk: NonNullable<PartFileOptions<Note>['onDisk']>;
  #handle: FileHandle | undefined;
  #note: Note | undefined;
  #sizeBytes = 0;

  private constructor(file: string, { onDisk = (_, work) => work }: PartFileOptions<Note>) {
    this.#file = file;
    this.path = `${file}.part`;
    this.#notePath = `${file}.part.json`;
    this.#onDisk = onDisk;
  }

  /** Opens an existing part; creates nothing before `begin`. */
  static async open<Note>(file: string, options: PartFileOptions<Note>): Promise<PartFile<Note>> {
    const part = new PartFile(file, options);
    const found = await stat(part.path).catch(() => undefined);
    if (!found?.isFile()) return part;
    part.#note = options.readNote(await readJson(part.#notePath));
    if (part.#note === undefined) return part;
    part.#handle = await part.#doing('open', open(part.path, 'r+'));
    part.#sizeBytes = found.size;
    return part;
  }

  /** Bytes received. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get note(): Note | undefined {
    return this.#note;
  }

  /** Empties the part; bytes appended from now on belong to the document in the note. */
  async begin(note: Note): Promise<void> {
    await this.discard();
    this.#handle = await this.#doing('create', open(this.path, 'w+'));
    await this.remember(note);
  }

  /** Replaces the note atomically. */
  async remember(note: Note): Promise<void> {
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
    return this.#onDisk(`${what} ${path.basename(this.path)}`, work);
  }
}

async function readJson(file: string): Promise<unknown> {
  try {
    if ((await stat(file)).size > MAX_NOTE_BYTES) return undefined;
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
