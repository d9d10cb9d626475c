// Vocabulary files on disk, named by their digest: fetched from a worker once, and checked each time before they are opened.
import { hash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface VocabularyCacheOptions {
  readonly directory: string;
  /** Files kept; beyond, those that were used longest ago are removed. 64 by default. */
  readonly maxFiles?: number;
  /** A larger file is refused. 64 MiB by default: vocabularies of 260,000 tokens have some 15. */
  readonly maxBytes?: number;
}

/** What came is not the file with this digest, or is too large. */
export class VocabularyError extends Error {
  override readonly name = 'VocabularyError';
}

const NAME = /^[0-9a-f]{64}\.gguf$/;

export class VocabularyCache {
  readonly #directory: string;
  readonly #maxFiles: number;
  readonly #maxBytes: number;
  /** Two who want the same file fetch it once. */
  readonly #under = new Map<string, Promise<string>>();

  constructor({ directory, maxFiles = 64, maxBytes = 64 * 1024 * 1024 }: VocabularyCacheOptions) {
    this.#directory = directory;
    this.#maxFiles = maxFiles;
    this.#maxBytes = maxBytes;
  }

  /** Path of the file with this hex SHA-256, checked just now. Rejects with VocabularyError, or as `fetch` does. */
  file(sha256: string, fetch: () => Promise<Uint8Array>): Promise<string> {
    const under = this.#under.get(sha256);
    if (under) return under;
    const found = this.#file(sha256, fetch).finally(() => this.#under.delete(sha256));
    this.#under.set(sha256, found);
    return found;
  }

  async #file(sha256: string, fetch: () => Promise<Uint8Array>): Promise<string> {
    const file = path.join(this.#directory, `${sha256}.gguf`);
    const isHere = await readFile(file).then(
      (bytes) => hash('sha256', bytes) === sha256,
      () => false,
    );
    if (!isHere) {
      const bytes = await fetch();
      if (bytes.byteLength > this.#maxBytes)
        throw new VocabularyError(`a vocabulary of ${bytes.byteLength} bytes is too large`);
      if (hash('sha256', bytes) !== sha256) throw new VocabularyError('the vocabulary has another digest');
      await this.#write(file, bytes);
    }
    const now = new Date();
    await utimes(file, now, now);
    await this.#makeRoom(file);
    return file;
  }

  /** A kill leaves a `.part`, which goes the way of old files, and never half a file under its name. */
  async #write(file: string, bytes: Uint8Array): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const part = path.join(this.#directory, `${randomUUID()}.part`);
    try {
      // Not synced: what a power cut leaves of it does not have its digest, and is fetched again.
      await writeFile(part, bytes, { flag: 'wx', mode: 0o600 });
      await rename(part, file);
    } catch (cause) {
      await rm(part, { force: true });
      throw new Error('keep a vocabulary', { cause });
    }
  }

  async #makeRoom(newest: string): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => NAME.test(name) || name.endsWith('.part'));
    if (names.length <= this.#maxFiles) return;
    const files = await Promise.all(
      names.map(async (name) => {
        const file = path.join(this.#directory, name);
        // Another clearing may have been quicker.
        const usedAt = await stat(file).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        );
        return { file, usedAt };
      }),
    );
    const oldest = files.filter(({ file }) => file !== newest).sort((a, b) => a.usedAt - b.usedAt);
    for (const { file } of oldest.slice(0, files.length - this.#maxFiles)) await rm(file, { force: true });
  }
}
