// Jobs that write files. Each API node writes one after another, in the order of their start. A job is durable in the store and
// visible at every node to the key that asked for it; the unfinished job of a stopped or killed node begins again at another.
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as delay, setInterval as ticks } from 'node:timers/promises';
import { DiskError } from '@strata/files';
import { FailureLog, type Notary, Refusal, type StoredFile } from '@strata/http';
import { encodeBase32, encodeHex } from '@strata/receipts';
import type { Logger } from 'pino';
import type { JobTable } from '../store/index.ts';
import { isEnded, type Job, JobError, type JobOrder } from './job.ts';
import { JobFiles } from './job-files.ts';
import { refuseExcess, surplusOf } from './job-limits.ts';
import { priceOf } from './price.ts';
import { type TableSource, writeTable } from './write-table.ts';

export interface JobsDeps {
  readonly directory: string;
  readonly table: JobTable;
  readonly notary: Pick<Notary, 'signBytes'>;
  readonly logger: Logger;
  readonly now: () => Date;
  /** The rows of an order; `uploadPath` has its names. */
  readonly sourceOf: (order: JobOrder, uploadPath: string) => TableSource | Promise<TableSource>;
}

/** Interval at which old jobs are removed. */
const SWEEP_MS = 60_000;
/** Interval at which a node finds jobs, and the end of jobs, of other nodes. */
const POLL_MS = 500;
/** The job of a killed node is free after this time; rows written and the lease are saved every second. */
const LEASE_MS = 15_000;
const RENEW_MS = 1_000;
/** Longer than a charge takes. */
const PAYMENT_MS = 10_000;
const PAYMENT_POLL_MS = 50;
/** A clean restart uses one too. */
const MAX_ATTEMPTS = 5;

export class Jobs {
  readonly #deps: JobsDeps;
  readonly #files: JobFiles;
  readonly #owner = randomUUID();
  /** Jobs whose upload is being received: they count as unfinished. */
  readonly #starting = new Set<Job>();
  /** The job that this node writes. */
  #working: Job | undefined;
  /** Resolved and replaced at each change of a state by this node. */
  #changed = Promise.withResolvers<void>();

  private constructor(deps: JobsDeps, files: JobFiles) {
    this.#deps = deps;
    this.#files = files;
  }

  /** On SQLite the only process of the store continues the jobs of the one before. */
  static async open(deps: JobsDeps): Promise<Jobs> {
    const { directory, table } = deps;
    const files = await JobFiles.open(directory, table);
    if (!table.isShared) {
      await table.release();
      await table.remove(files.lostOf(await table.list()).map(({ id }) => id));
    }
    return new Jobs(deps, files);
  }

  /** The job is durable when it resolves. Refuses it while too many are unfinished. */
  async start(order: JobOrder, upload?: AsyncIterable<Uint8Array>): Promise<Job> {
    const { table, now } = this.#deps;
    const check = (jobs: readonly Job[]) => refuseExcess(jobs, order.key_id);
    check([...(await table.list()), ...this.#starting]);
    const id = `job_${encodeBase32(randomBytes(15))}`;
    const created_at = now().toISOString();
    const begun = { state: 'queued', attempts: 0, rows: 0, ended_at: null, file: null, error: null } as const;
    const job: Job = { ...order, id, created_at, ...begun, is_paid: false };
    this.#starting.add(job);
    try {
      if (upload) await this.#files.saveUpload(job, upload);
      await table.add(job, check);
      this.#notify();
      return job;
    } finally {
      this.#starting.delete(job);
    }
  }

  /** A job of the key. */
  async find(id: string, keyId: string): Promise<Job | undefined> {
    const job = await this.#find(id);
    return job?.key_id === keyId ? job : undefined;
  }

  /** With the rows that this node has written since the job was saved. */
  async #find(id: string): Promise<Job | undefined> {
    const job = await this.#deps.table.find(id);
    const isWorking = job !== undefined && !isEnded(job) && this.#working?.id === id;
    return isWorking ? this.#working : job;
  }

  /** The jobs of the key, newest first. */
  async of(keyId: string): Promise<Job[]> {
    return (await this.#deps.table.list()).filter(({ key_id }) => key_id === keyId).reverse();
  }

  /** The newest job with the same order that began within `maxAgeMs` and did not fail. */
  async latest(order: JobOrder, maxAgeMs: number): Promise<Job | undefined> {
    const oldest = new Date(this.#deps.now().getTime() - maxAgeMs).toISOString();
    const names = Object.keys(order) as (keyof JobOrder)[];
    const textOf = (each: JobOrder) => JSON.stringify(names.map((name) => each[name]));
    const same = (job: Job) => job.state !== 'failed' && job.created_at >= oldest && textOf(job) === textOf(order);
    return (await this.of(order.key_id)).find(same);
  }

  /** The job when it has ended, or as it is after `waitMs`. */
  async ended(job: Job, { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal }): Promise<Job> {
    const timeout = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    for (;;) {
      const wait = this.#wait(timeout);
      const current = (await this.#find(job.id)) ?? job;
      if (isEnded(current) || timeout.aborted) return current;
      await wait;
    }
  }

  /** Resolves at a change by this node, or when it is time to find those of other nodes. */
  #wait(signal: AbortSignal): Promise<unknown> {
    return Promise.race([this.#changed.promise, delay(POLL_MS, undefined, { signal }).catch(() => {})]);
  }

  /** The file of a job that has ended; charges its rows once. Refuses what a failed or unfinished job cannot give. */
  async fileOf(job: Job, charge: (requests: number) => Promise<void>): Promise<StoredFile> {
    const { file, error } = job;
    if (error) throw new Refusal(error.code, error.detail);
    if (!file) {
      const detail = `The file is being written: ${job.rows} rows so far. Ask again, or wait for /stack/v1/jobs/${job.id}.`;
      throw new Refusal('unavailable', detail, { headers: { 'retry-after': '5' } });
    }
    const here = (await this.#files.dataHere(job)) ?? removed();
    await this.#pay(job, charge);
    return {
      path: here,
      sizeBytes: file.size_bytes,
      sha256: file.sha256,
      contentType: file.content_type,
      filename: `${job.table}.${job.format}`,
      provenance: file.provenance,
    };
  }

  /**
   * One payment for requests that come at once, at any nodes: the lease of the job is held for it. Without a charge, later
   * answers still report the quota.
   */
  async #pay({ id }: Job, charge: (requests: number) => Promise<void>): Promise<void> {
    const { table } = this.#deps;
    // Of this request alone.
    const owner = randomUUID();
    for (;;) {
      const known = (await table.find(id)) ?? removed();
      if (known.is_paid) return await charge(0);
      const job = await table.take({ owner, ms: PAYMENT_MS }, id);
      // After a payment that failed, one of the waiting requests tries it.
      if (job === undefined) await delay(PAYMENT_POLL_MS);
      else if (job.is_paid) await table.release(owner);
      else {
        await charge(priceOf(job.rows)).catch(async (error: unknown) => {
          await table.release(owner);
          throw error;
        });
        await table.save({ ...job, is_paid: true }, { owner, ms: 0 });
        return;
      }
    }
  }

  /** Writes files until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const failures = new FailureLog(this.#deps.logger, { what: 'finding jobs' });
    for (let sweptAt = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
      const wait = this.#wait(signal);
      try {
        if (performance.now() - sweptAt > SWEEP_MS) {
          await this.#sweep();
          sweptAt = performance.now();
        }
        const next = await this.#deps.table.take({ owner: this.#owner, ms: LEASE_MS });
        failures.recovered();
        if (next) {
          await this.#write(next, signal);
          sweptAt = Number.NEGATIVE_INFINITY;
        } else await wait;
      } catch (error) {
        failures.failed(error);
        await wait;
      }
    }
  }

  async #sweep(): Promise<void> {
    const { table, now } = this.#deps;
    await table.remove(surplusOf(await table.list(), now()));
    await this.#files.sweep(this.#starting, () => table.list());
  }

  async #write({ attempts, ...queued }: Job, signal: AbortSignal): Promise<void> {
    const { table, logger, now } = this.#deps;
    const job: Job = { ...queued, attempts: attempts + 1, state: 'running', rows: 0 };
    const [ending, lost] = [new AbortController(), new AbortController()];
    // Durable before the work: a job that ends the process is begun a few times only.
    if (!(await table.save(job, this.#lease))) return;
    this.#working = job;
    const renewing = this.#renew(ending.signal, lost);
    try {
      if (attempts >= MAX_ATTEMPTS) throw new Error('the process has ended while it wrote the file');
      const written = await this.#writeFile(job, AbortSignal.any([signal, lost.signal]));
      await this.#end({ ...job, ...written, state: 'complete', ended_at: now().toISOString() });
    } catch (cause) {
      await rm(this.#files.pathOf(job, 'part'), { force: true }).catch(() => {});
      if (lost.signal.aborted) return;
      // A stopped process leaves the job to the next one.
      if (signal.aborted) return await table.release(this.#owner);
      const error = errorOf(cause);
      if (error.code === 'internal_error') logger.error({ err: cause, id: job.id }, 'a job failed');
      await this.#end({ ...job, state: 'failed', rows: 0, error, ended_at: now().toISOString() });
    } finally {
      ending.abort();
      await renewing;
      this.#working = undefined;
    }
  }

  get #lease() {
    return { owner: this.#owner, ms: LEASE_MS };
  }

  async #writeFile(job: Job, signal: AbortSignal): Promise<Pick<Job, 'rows' | 'file'>> {
    const { notary, sourceOf } = this.#deps;
    const source = await sourceOf(job, await this.#files.uploadHere(job));
    const { rows, sizeBytes, sha256, contentType } = await writeTable(this.#files.pathOf(job, 'data'), source, {
      ...{ format: job.format, fields: job.fields, partPath: this.#files.pathOf(job, 'part'), signal },
      onRows: (rows) => {
        this.#working = { ...job, rows };
      },
      maxRows: job.max_rows ?? Number.POSITIVE_INFINITY,
    });
    await this.#files.shareData(job, signal);
    const provenance = JSON.stringify(await notary.signBytes({ sha256 }, contentType));
    return { rows, file: { size_bytes: sizeBytes, sha256: encodeHex(sha256), content_type: contentType, provenance } };
  }

  /** Saves what is written and extends the lease, until `signal` aborts; aborts `lost` if another node has taken the job. */
  async #renew(signal: AbortSignal, lost: AbortController): Promise<void> {
    const { table, logger } = this.#deps;
    try {
      for await (const _ of ticks(RENEW_MS, undefined, { signal }))
        try {
          if (this.#working && !(await table.save(this.#working, this.#lease))) return lost.abort();
        } catch (error) {
          // The lease decides in the end.
          logger.warn({ err: error }, 'the lease of a job could not be extended');
        }
    } catch {
      // The work has ended.
    }
  }

  /** Saves the end of the job, unless another node has taken it. */
  async #end(job: Job): Promise<void> {
    await this.#deps.table.save(job, { owner: this.#owner, ms: 0 });
    await rm(this.#files.pathOf(job, 'upload'), { force: true });
    this.#notify();
  }

  #notify(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function removed(): never {
  throw new Refusal('unavailable', 'The file of the job was just removed. Start it again.');
}

function errorOf(cause: unknown): NonNullable<Job['error']> {
  if (cause instanceof JobError) return { code: cause.code, detail: cause.message };
  if (cause instanceof Refusal) return { code: 'invalid_parameter', detail: cause.message };
  if (cause instanceof DiskError)
    return { code: 'unavailable', detail: 'The file could not be written. Try again later.' };
  return { code: 'internal_error', detail: 'An internal error occurred. Report the id of the job to the operator.' };
}
