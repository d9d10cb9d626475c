// A file that is on its way: its bytes so far, and a note of what they are of.
//
// A crash finds one of these, and the next download goes on from there:
//   part + its note    the part's bytes are of what the note says; it is resumed, or checked when it is complete
//   part, no note      nothing is known of its bytes; it is begun anew
//   model + part note  the part has just become the model; the note follows it (`settle`)
// Bytes that were written shortly before a loss of power may be wrong: what tells is the SHA-256 of the whole.
import { type FileHandle, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { ModelStoreError, onDisk, sizeInWords } from './error.ts';
import { type Note, readNote, writeNote } from './json-file.ts';
import type { ModelPaths } from './paths.ts';

/** One holder at a time: the lock is taken before. Everything rejects with `disk` when the disk refuses. */
export class PartFile implements AsyncDisposable {
  readonly #places: ModelPaths;
  #handle: FileHandle | undefined;
  #note: Note | undefined;
  #sizeBytes = 0;

  private constructor(places: ModelPaths) {
    this.#places = places;
  }

  /** Takes up what is there; creates nothing before `begin`. */
  static async open(places: ModelPaths): Promise<PartFile> {
    const part = new PartFile(places);
    const found = await stat(places.part).catch(() => undefined);
    part.#note = found ? await readNote(places.partNote) : undefined;
    if (found && part.#note) {
      part.#handle = await onDisk(part.#doing('open'), open(places.part, 'r+'));
      part.#sizeBytes = found.size;
    }
    return part;
  }

  /** Bytes that are here. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get note(): Note | undefined {
    return this.#note;
  }

  get isComplete(): boolean {
    return this.#note !== undefined && this.#sizeBytes === this.#note.sizeBytes;
  }

  get path(): string {
    return this.#places.part;
  }

  /** Empties the part; what is appended from now on is of what the note says. */
  async begin(note: Note): Promise<void> {
    await this.discard();
    await onDisk(this.#doing('make room for'), mkdir(path.dirname(this.#places.part), { recursive: true }));
    this.#handle = await onDisk(this.#doing('create'), open(this.#places.part, 'w+'));
    await this.remember(note);
  }

  async remember(note: Note): Promise<void> {
    await writeNote(this.#places.partNote, note);
    this.#note = note;
  }

  async append(bytes: Uint8Array): Promise<void> {
    if (!this.#handle) throw new Error('append before begin');
    for (let at = 0; at < bytes.length; ) {
      const writing = this.#handle.write(bytes, at, bytes.length - at, this.#sizeBytes);
      const { bytesWritten } = await onDisk(this.#doing('write'), writing);
      at += bytesWritten;
      this.#sizeBytes += bytesWritten;
    }
  }

  /** Rejects with `disk` when what is still to come does not fit. */
  async needRoom(bytes: number): Promise<void> {
    const disk = await statfs(path.dirname(this.#places.part)).catch(() => undefined);
    const free = disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
    if (bytes > free) {
      const name = path.basename(this.#places.model);
      throw new ModelStoreError(
        'disk',
        `the disk is full: ${name} needs ${sizeInWords(bytes)} more, and ${sizeInWords(free)} are free`,
      );
    }
  }

  /** The part becomes the model, in the place of an older one. It was checked, and has this SHA-256. */
  async complete(sha256: string): Promise<void> {
    const { model, note, part, partNote } = this.#places;
    if (!this.#handle || !this.#note) throw new Error('complete before begin');
    await this.remember({ ...this.#note, sizeBytes: this.#sizeBytes, sha256 });
    await onDisk(this.#doing('write'), this.#handle.sync());
    await this[Symbol.asyncDispose]();
    await onDisk(this.#doing('put in place'), rename(part, model));
    await onDisk(this.#doing('put in place'), rename(partNote, note));
    await syncFolder(path.dirname(model));
  }

  /** Nothing that came is kept. */
  async discard(): Promise<void> {
    await this[Symbol.asyncDispose]();
    await onDisk(this.#doing('remove'), rm(this.#places.partNote, { force: true }));
    await onDisk(this.#doing('remove'), rm(this.#places.part, { force: true }));
    this.#note = undefined;
    this.#sizeBytes = 0;
  }

  /** What came stays for the next time. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  #doing(what: string): string {
    return `${what} ${path.basename(this.#places.part)}`;
  }
}

/** Finishes what a crash interrupted after the part had become the model. Under the lock. */
export async function settle({ model, note, part, partNote }: ModelPaths): Promise<void> {
  const [hasModel, hasPart] = await Promise.all([model, part].map(exists));
  if (hasModel && !hasPart && (await exists(partNote))) await onDisk('put the note in place', rename(partNote, note));
}

export async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** Names last through a loss of power only when their folder was written too; not every system lets one ask for that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
