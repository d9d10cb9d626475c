// A partial download: the bytes received so far, and a note that identifies the file they belong to.
//
// State after a crash, and what the next download does:
//   part + its note    the part's bytes belong to the file in the note: resume, or verify if complete
//   part, no note      unknown bytes: start again
//   model + part note  the part was renamed to the model: rename the note too (`finishInterruptedMove`)
// Bytes written shortly before a power loss may be wrong: the SHA-256 of the complete file detects this.
import { type FileHandle, mkdir, open, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { formatSize, ModelStoreError, onDisk } from './error.ts';
import type { ModelPaths } from './store-files.ts';
import { type Note, readNote, writeNote } from './store-files.ts';

/** One instance at a time: the caller holds the lock. Everything rejects with `disk` when the file system refuses. */
export class PartFile implements AsyncDisposable {
  readonly #paths: ModelPaths;
  #handle: FileHandle | undefined;
  #note: Note | undefined;
  #sizeBytes = 0;

  private constructor(paths: ModelPaths) {
    this.#paths = paths;
  }

  /** Opens an existing part; creates nothing before `begin`. */
  static async open(paths: ModelPaths): Promise<PartFile> {
    const part = new PartFile(paths);
    const found = await stat(paths.part).catch(() => undefined);
    part.#note = found ? await readNote(paths.partNote) : undefined;
    if (found && part.#note) {
      part.#handle = await onDisk(part.#doing('open'), open(paths.part, 'r+'));
      part.#sizeBytes = found.size;
    }
    return part;
  }

  /** Bytes received. */
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
    return this.#paths.part;
  }

  /** Empties the part; bytes appended from now on belong to the file in the note. */
  async begin(note: Note): Promise<void> {
    await this.discard();
    await onDisk(this.#doing('create the folder of'), mkdir(path.dirname(this.#paths.part), { recursive: true }));
    this.#handle = await onDisk(this.#doing('create'), open(this.#paths.part, 'w+'));
    await this.remember(note);
  }

  async remember(note: Note): Promise<void> {
    await writeNote(this.#paths.partNote, note);
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

  /** Rejects with `disk` when the remaining bytes do not fit. */
  async checkFreeSpace(bytes: number): Promise<void> {
    const disk = await statfs(path.dirname(this.#paths.part)).catch(() => undefined);
    const free = disk ? disk.bavail * disk.bsize : Number.POSITIVE_INFINITY;
    if (bytes > free) {
      const name = path.basename(this.#paths.model);
      throw new ModelStoreError(
        'disk',
        `the disk is full: ${name} needs ${formatSize(bytes)} more, and ${formatSize(free)} are free`,
      );
    }
  }

  /** Renames the part to the model, replacing an older one. The caller has verified the bytes against this SHA-256. */
  async complete(sha256: string): Promise<void> {
    const { model, note, part, partNote } = this.#paths;
    if (!this.#handle || !this.#note) throw new Error('complete before begin');
    await this.remember({ ...this.#note, sizeBytes: this.#sizeBytes, sha256 });
    await onDisk(this.#doing('write'), this.#handle.sync());
    await this[Symbol.asyncDispose]();
    await onDisk(this.#doing('rename'), rename(part, model));
    await onDisk(this.#doing('rename'), rename(partNote, note));
    await syncFolder(path.dirname(model));
  }

  /** Deletes the received bytes. */
  async discard(): Promise<void> {
    await this[Symbol.asyncDispose]();
    await onDisk(this.#doing('remove'), rm(this.#paths.partNote, { force: true }));
    await onDisk(this.#doing('remove'), rm(this.#paths.part, { force: true }));
    this.#note = undefined;
    this.#sizeBytes = 0;
  }

  /** Keeps the received bytes for the next download. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  #doing(what: string): string {
    return `${what} ${path.basename(this.#paths.part)}`;
  }
}

/** Completes the move that a crash interrupted after the rename of the part. Call under the lock. */
export async function finishInterruptedMove({ model, note, part, partNote }: ModelPaths): Promise<void> {
  const [hasModel, hasPart] = await Promise.all([model, part].map(exists));
  if (hasModel && !hasPart && (await exists(partNote))) await onDisk('rename the note', rename(partNote, note));
}

export async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** A rename is durable only after its folder is synced; some systems do not support that. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
