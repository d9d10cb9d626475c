// Vocabulary files on disk, named by digest: fetched from a worker once, and verified each time before they are opened.
import { hash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '@strata/files';

export interface VocabularyCacheOptions {
  readonly directory: string;
  /** Maximum number of files; above it the least recently used are removed. 64 by default. */
  readonly maxFiles?: number;
  /** Larger files are rejected. 64 MiB by default: vocabularies of 260,000 tokens have about 15 MiB. */
  readonly maxBytes?: number;
}

/** The received file has another digest, or is too large. */
export class VocabularyError extends Error {
  override readonly name = 'VocabularyError';
}

/** A vocabulary, or what a killed process left of one, in this version or an earlier one. */
const NAME = /^[0-9a-f]{64}\.gguf(?:\..+\.new)?$|\.part$/;

export class VocabularyCache {
  readonly #directory: string;
  readonly #maxFiles: number;
  readonly #maxBytes: number;
  /** Concurrent requests for the same file share one fetch. */
  readonly #pending = new Map<string, Promise<string>>();

  constructor({ directory, maxFiles = 64, maxBytes = 64 * 1024 * 1024 }: VocabularyCacheOptions) {
    this.#directory = directory;
    this.#maxFiles = maxFiles;
    this.#maxBytes = maxBytes;
  }

  /**
   * Path of the file with this hexadecimal SHA-256, verified in this call. Rejects with VocabularyError, or as `fetch`
   * does.
   */
  file(sha256: string, fetch: () => Promise<Uint8Array>): Promise<string> {
    const pending = this.#pending.get(sha256);
    if (pending) return pending;
    const found = this.#file(sha256, fetch).finally(() => this.#pending.delete(sha256));
    this.#pending.set(sha256, found);
    return found;
  }

  async #file(sha256: string, fetch: () => Promise<Uint8Array>): Promise<string> {
    const file = path.join(this.#directory, `${sha256}.gguf`);
    const isCached = await readFile(file).then(
      (bytes) => hash('sha256', bytes) === sha256,
      () => false,
    );
    if (!isCached) {
      const bytes = await fetch();
      if (bytes.byteLength > this.#maxBytes)
        throw new VocabularyError(`a vocabulary of ${bytes.byteLength} bytes is too large`);
      if (hash('sha256', bytes) !== sha256) throw new VocabularyError('the vocabulary has the wrong digest');
      await this.#write(file, bytes);
    }
    const now = new Date();
    await utimes(file, now, now);
    await this.#evict(file);
    return file;
  }

  /** A crash leaves a `.new` file, which is removed like old files, and never a partial file under the final name. */
  async #write(file: string, bytes: Uint8Array): Promise<void> {
    try {
      await mkdir(this.#directory, { recursive: true });
      // Not synced: after a power failure a damaged file fails the digest check and is fetched again.
      await replaceFile(file, bytes, { mode: 0o600, sync: 'none', isShared: true });
    } catch (cause) {
      throw new Error('store a vocabulary', { cause });
    }
  }

  async #evict(newest: string): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => NAME.test(name));
    if (names.length <= this.#maxFiles) return;
    const files = await Promise.all(
      names.map(async (name) => {
        const file = path.join(this.#directory, name);
        // A concurrent eviction may have removed it.
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
