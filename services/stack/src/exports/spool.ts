// The files of jobs below the data directory: `<id>.json` is the job, `<id>.upload` its names, `<id>.data` the complete file and
// `<id>.part` the one being written. What a restart finds:
//   only `.upload`      the upload was not acknowledged: it is removed
//   `.json` unfinished  an acknowledged job: it begins again
//   `.json` complete    `.data`, complete and durable
import { open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectory, onDisk, replaceFile, syncDirectory } from '@strata/files';
import { isEnded, Job } from './job.ts';

export class Spool {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Creates the directory if it is missing, and reads its jobs, oldest first. Files that belong to no job are removed. */
  static async open(directory: string): Promise<{ readonly spool: Spool; readonly jobs: readonly Job[] }> {
    await makeDirectory(directory, { mode: 0o700 });
    const spool = new Spool(directory);
    const names = await readdir(directory);
    const jobs: Job[] = [];
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const job = await spool.#read(name);
      if (job) jobs.push(job);
    }
    const kept = new Set(jobs.flatMap((job) => [`${job.id}.json`, `${job.id}.${isEnded(job) ? 'data' : 'upload'}`]));
    for (const name of names) if (!kept.has(name)) await rm(path.join(directory, name), { force: true });
    return { spool, jobs: jobs.sort((a, b) => (a.created_at < b.created_at ? -1 : 1)) };
  }

  async #read(name: string): Promise<Job | undefined> {
    try {
      const job = Job.parse(JSON.parse(await readFile(path.join(this.#directory, name), 'utf8')));
      return name === `${job.id}.json` ? job : undefined;
    } catch {
      // Of another version, or damaged: the client can ask again.
      return undefined;
    }
  }

  pathOf(id: string, kind: 'upload' | 'data' | 'part'): string {
    return path.join(this.#directory, `${id}.${kind}`);
  }

  /** Durable when it resolves. Rejects with DiskError, or with an error of the chunks; then nothing is left. */
  async saveUpload(id: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const file = this.pathOf(id, 'upload');
    try {
      await using handle = await onDisk('save the names', open(file, 'wx', 0o600));
      for await (const chunk of chunks) await onDisk('save the names', handle.writeFile(chunk));
      await onDisk('save the names', handle.sync());
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    }
  }

  /** Durable when it resolves. */
  async save(job: Job): Promise<void> {
    const file = path.join(this.#directory, `${job.id}.json`);
    await onDisk('save the job', replaceFile(file, JSON.stringify(job), { mode: 0o600, sync: 'all' }));
    if (isEnded(job)) await rm(this.pathOf(job.id, 'upload'), { force: true });
  }

  /** The job first, so that no job is without its file. */
  async remove(id: string): Promise<void> {
    await rm(path.join(this.#directory, `${id}.json`), { force: true });
    await syncDirectory(this.#directory);
    for (const kind of ['upload', 'part', 'data'] as const) await rm(this.pathOf(id, kind), { force: true });
  }
}
