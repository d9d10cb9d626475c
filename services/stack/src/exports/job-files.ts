// The files of jobs below the data directory: `<id>.upload` has the names, `<id>.<attempt>.data` the complete file, and
// `<id>.<attempt>.part` the one being written. On PostgreSQL, where nodes share jobs, they are copies of what the store has. What a
// restart finds:
//   files of no job    the upload was not acknowledged, or the job was removed: they are removed
//   unfinished job     its upload, here or in the store: another attempt begins
//   complete job       its file, here or in the store, complete and durable
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, onDisk, syncDirectory } from '@strata/files';
import type { JobTable } from '../store/index.ts';
import { isEnded, type Job } from './job.ts';

/** End of the names of files that are being copied from the store. */
const COPYING = '.copy';

export class JobFiles {
  readonly #directory: string;
  readonly #chunks: JobTable['chunks'];
  /** Files that are being copied from the store. */
  readonly #copying = new Map<string, Promise<void>>();

  private constructor(directory: string, chunks: JobTable['chunks']) {
    this.#directory = directory;
    this.#chunks = chunks;
  }

  /** Creates the directory if it is missing. */
  static async open(directory: string, { chunks }: Pick<JobTable, 'chunks'>): Promise<JobFiles> {
    await makeDirectory(directory, { mode: 0o700 });
    for (const name of await readdir(directory))
      if (name.endsWith(COPYING)) await rm(path.join(directory, name), { force: true });
    return new JobFiles(directory, chunks);
  }

  pathOf({ id, attempts }: Pick<Job, 'id' | 'attempts'>, kind: 'upload' | 'data' | 'part'): string {
    return path.join(this.#directory, kind === 'upload' ? `${id}.upload` : `${id}.${attempts}.${kind}`);
  }

  /** Durable when it resolves. Rejects with DiskError, or with an error of the chunks; then no file is left. */
  async saveUpload(job: Job, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const file = this.pathOf(job, 'upload');
    try {
      await writeDurably(file, chunks);
      await onDisk('save the names', syncDirectory(this.#directory));
      await this.#chunks?.store({ id: job.id, attempt: 0 }, file);
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  /** Stores the file of an attempt for the other nodes. */
  async storeFile(job: Job, signal: AbortSignal): Promise<void> {
    await this.#chunks?.store({ id: job.id, attempt: job.attempts }, this.pathOf(job, 'data'), signal);
  }

  /** The names of a job, on this node. */
  async localUpload(job: Job): Promise<string> {
    const file = this.pathOf(job, 'upload');
    if (job.upload !== null) await this.#copy(file, { id: job.id, attempt: 0 });
    return file;
  }

  /** The file of a complete job, on this node; undefined if it was lost. */
  async localFile(job: Job): Promise<string | undefined> {
    const file = this.pathOf(job, 'data');
    await this.#copy(file, { id: job.id, attempt: job.attempts, sha256: job.file?.sha256 });
    return existsSync(file) ? file : undefined;
  }

  async #copy(
    file: string,
    { sha256, ...of }: { readonly id: string; readonly attempt: number; readonly sha256?: string | undefined },
  ): Promise<void> {
    const chunks = this.#chunks;
    if (!chunks || existsSync(file)) return;
    const copy = async () => {
      const fresh = `${file}${COPYING}`;
      try {
        const copied = await writeDurably(fresh, chunks.read(of));
        // Otherwise the job was removed while it was read.
        if (sha256 === undefined || copied === sha256) await onDisk('copy the file', rename(fresh, file));
      } finally {
        await rm(fresh, { force: true });
      }
    };
    const copying = this.#copying.get(file) ?? copy().finally(() => this.#copying.delete(file));
    this.#copying.set(file, copying);
    await copying;
  }

  /** Removes the files that belong to no job. `receiving` are jobs whose upload is being received; read before `list`. */
  async sweep(receiving: Iterable<Job>, list: () => Promise<readonly Job[]>): Promise<void> {
    const files = (await readdir(this.#directory, { withFileTypes: true })).filter((entry) => entry.isFile());
    const uploads = Array.from(receiving, (job) => this.pathOf(job, 'upload'));
    const filesOf = (job: Job) =>
      isEnded(job)
        ? job.file && this.pathOf(job, 'data')
        : [this.pathOf(job, 'upload'), this.pathOf(job, 'part'), this.pathOf(job, 'data')];
    const kept = new Set([...uploads, ...(await list()).flatMap((job) => filesOf(job) ?? [])]);
    for (const file of files.map(({ name }) => path.join(this.#directory, name)))
      if (!kept.has(file) && !file.endsWith(COPYING)) await rm(file, { force: true });
  }

  /** Jobs whose file or upload is missing: the database was restored without them. */
  withoutFiles(jobs: readonly Job[]): Job[] {
    const neededBy = (job: Job) =>
      isEnded(job) ? job.file && this.pathOf(job, 'data') : job.upload && this.pathOf(job, 'upload');
    return jobs.filter((job) => !existsSync(neededBy(job) ?? this.#directory));
  }
}

/** Hex SHA-256 of the content, which is durable when it resolves; its name is not. */
async function writeDurably(file: string, chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  await using handle = await onDisk('save a file', open(file, 'w', 0o600));
  for await (const chunk of chunks) {
    hash.update(chunk);
    await onDisk('save a file', handle.writeFile(chunk));
  }
  await onDisk('save a file', handle.sync());
  return hash.digest('hex');
}
