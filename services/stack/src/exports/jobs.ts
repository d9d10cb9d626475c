// Jobs that write files: one after another in the order of their start. They belong to the process that started them, and to the key
// that asked for them; a restart begins the unfinished ones again.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { DiskError } from '@strata/files';
import { type Notary, Refusal, type StoredFile } from '@strata/http';
import { encodeBase32, encodeHex } from '@strata/receipts';
import type { Logger } from 'pino';
import { isEnded, type Job, JobError, type JobOrder } from './job.ts';
import { refuseExcess, surplusOf } from './job-limits.ts';
import { priceOf } from './price.ts';
import { Spool } from './spool.ts';
import { type TableSource, writeTable } from './write-table.ts';

export interface JobsDeps {
  readonly directory: string;
  readonly notary: Pick<Notary, 'signBytes'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** The rows of an order; `uploadPath` has its names. */
  readonly sourceOf: (order: JobOrder, uploadPath: string) => TableSource | Promise<TableSource>;
}

/** Interval at which old jobs are removed. */
const SWEEP_MS = 60_000;
/** A clean restart uses one too. */
const MAX_ATTEMPTS = 5;

export class Jobs {
  readonly #deps: JobsDeps;
  readonly #spool: Spool;
  /** Oldest first. */
  readonly #jobs: Map<string, Job>;
  /** Jobs whose upload is being received: they count as unfinished. */
  readonly #starting = new Set<Job>();
  readonly #paying = new Map<string, Promise<void>>();
  /** Resolved and replaced at each change of a state. */
  #changed = Promise.withResolvers<void>();

  private constructor(deps: JobsDeps, spool: Spool, jobs: readonly Job[]) {
    this.#deps = deps;
    this.#spool = spool;
    this.#jobs = new Map(jobs.map((job) => [job.id, job]));
  }

  /** Reads the jobs of earlier processes. */
  static async open(deps: JobsDeps): Promise<Jobs> {
    const { spool, jobs } = await Spool.open(deps.directory);
    return new Jobs(deps, spool, jobs);
  }

  /** The job is durable when it resolves. Refuses it while too many are unfinished. */
  async start(order: JobOrder, upload?: AsyncIterable<Uint8Array>): Promise<Job> {
    refuseExcess([...this.#jobs.values(), ...this.#starting], order.key_id);
    const id = `job_${encodeBase32(randomBytes(15))}`;
    const created_at = this.#deps.now().toISOString();
    const begun = { state: 'queued', attempts: 0, rows: 0, ended_at: null, file: null, error: null } as const;
    const job: Job = { ...order, id, created_at, ...begun, is_paid: false };
    this.#starting.add(job);
    try {
      if (upload) await this.#spool.saveUpload(id, upload);
      await this.#set(job);
      return job;
    } finally {
      this.#starting.delete(job);
    }
  }

  /** A job of the key. */
  find(id: string, keyId: string): Job | undefined {
    const job = this.#jobs.get(id);
    return job?.key_id === keyId ? job : undefined;
  }

  /** The jobs of the key, newest first. */
  of(keyId: string): Job[] {
    return [...this.#jobs.values()].filter(({ key_id }) => key_id === keyId).reverse();
  }

  /** The newest job with the same order that began within `maxAgeMs` and did not fail. */
  latest(order: JobOrder, maxAgeMs: number): Job | undefined {
    const oldest = new Date(this.#deps.now().getTime() - maxAgeMs).toISOString();
    const names = Object.keys(order) as (keyof JobOrder)[];
    const textOf = (each: JobOrder) => JSON.stringify(names.map((name) => each[name]));
    const same = (job: Job) => job.state !== 'failed' && job.created_at >= oldest && textOf(job) === textOf(order);
    return this.of(order.key_id).find(same);
  }

  /** The job when it has ended, or as it is after `waitMs`. */
  async ended(job: Job, { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<Job> {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    for (;;) {
      const current = this.#jobs.get(job.id) ?? job;
      if (isEnded(current) || timeout.aborted) return current;
      const late = Promise.withResolvers<void>();
      timeout.addEventListener('abort', () => late.resolve(), { once: true });
      await Promise.race([this.#changed.promise, late.promise]);
    }
  }

  /** The file of a job that has ended; charges its rows once. Refuses what a failed or unfinished job cannot give. */
  async fileOf(job: Job, charge: (requests: number) => Promise<void>): Promise<StoredFile> {
    const { file, error } = job;
    if (error) throw new Refusal(error.code, error.detail);
    if (!file) {
      const detail = `The file is being written: ${job.rows} rows so far. Ask again, or wait for /stack/v1/jobs/${job.id}.`;
      throw new Refusal('unavailable', detail, { headers: { 'retry-after': '5' } });
    }
    await this.#pay(job, charge);
    return {
      path: this.#spool.pathOf(job.id, 'data'),
      sizeBytes: file.size_bytes,
      sha256: file.sha256,
      contentType: file.content_type,
      filename: `${job.table}.${job.format}`,
      provenance: file.provenance,
    };
  }

  /** One payment for requests that come at once. Without a charge, later answers still report the quota. */
  async #pay({ id }: Job, charge: (requests: number) => Promise<void>): Promise<void> {
    // After a payment that failed, one of the waiting requests tries it, the remaining ones wait again.
    for (let other = this.#paying.get(id); other; other = this.#paying.get(id)) await other.catch(() => {});
    const job = this.#jobs.get(id);
    if (!job) throw new Refusal('unavailable', 'The file of the job was just removed. Start it again.');
    if (job.is_paid) return await charge(0);
    const paid = { ...job, is_paid: true };
    const paying = charge(priceOf(job.rows))
      .then(() => {
        // Also when it cannot be saved: the key has paid.
        this.#jobs.set(id, paid);
        return this.#spool.save(paid);
      })
      .finally(() => this.#paying.delete(id));
    this.#paying.set(id, paying);
    await paying;
  }

  /** Writes files until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#sweep();
      const next = [...this.#jobs.values()].find((job) => !isEnded(job));
      if (next) await this.#write(next, signal);
      else await Promise.race([this.#changed.promise, delay(SWEEP_MS, undefined, { signal }).catch(() => {})]);
    }
  }

  async #sweep(): Promise<void> {
    try {
      for (const id of surplusOf([...this.#jobs.values()], this.#deps.now())) {
        if (this.#paying.has(id)) continue;
        this.#jobs.delete(id);
        await this.#spool.remove(id);
      }
    } catch (error) {
      this.#deps.logger.error({ err: error }, 'old jobs could not be removed');
    }
  }

  async #write({ attempts, ...queued }: Job, signal: AbortSignal): Promise<void> {
    const { notary, now, logger, sourceOf } = this.#deps;
    const job: Job = { ...queued, attempts: attempts + 1 };
    const { id, format, fields } = job;
    const part = this.#spool.pathOf(id, 'part');
    const onRows = (rows: number) => void this.#jobs.set(id, { ...job, state: 'running', rows });
    onRows(0);
    try {
      // Durable before the work: a job that ends the process is begun a few times only.
      await this.#spool.save(job);
      if (attempts >= MAX_ATTEMPTS) throw new Error('the process has ended while it wrote the file');
      const written = await writeTable(
        this.#spool.pathOf(id, 'data'),
        await sourceOf(job, this.#spool.pathOf(id, 'upload')),
        {
          ...{ format, fields, partPath: part, onRows, signal },
          maxRows: job.max_rows ?? Number.POSITIVE_INFINITY,
        },
      );
      const { rows, sizeBytes, sha256, contentType } = written;
      const provenance = JSON.stringify(await notary.signBytes({ sha256 }, contentType));
      const file = { size_bytes: sizeBytes, sha256: encodeHex(sha256), content_type: contentType, provenance };
      await this.#set({ ...job, state: 'complete', rows, file, ended_at: now().toISOString() });
    } catch (cause) {
      // A stopped process leaves the job to the next one.
      if (signal.aborted) return;
      await rm(part, { force: true }).catch(() => {});
      const error = errorOf(cause);
      if (error.code === 'internal_error') logger.error({ err: cause, id }, 'a job failed');
      const failed: Job = { ...job, state: 'failed', rows: 0, error, ended_at: now().toISOString() };
      // On a full disk at least this process knows.
      await this.#set(failed).catch((err: unknown) => {
        logger.error({ err, id }, 'the failure of a job could not be saved');
        this.#jobs.set(id, failed);
      });
    }
  }

  async #set(job: Job): Promise<void> {
    await this.#spool.save(job);
    this.#jobs.set(job.id, job);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function errorOf(cause: unknown): NonNullable<Job['error']> {
  if (cause instanceof JobError) return { code: cause.code, detail: cause.message };
  if (cause instanceof Refusal) return { code: 'invalid_parameter', detail: cause.message };
  if (cause instanceof DiskError)
    return { code: 'unavailable', detail: 'The file could not be written. Try again later.' };
  return { code: 'internal_error', detail: 'An internal error occurred. Report the id of the job to the operator.' };
}
