// Jobs that write files. Each API node writes one after another, in the order of their start. A job is durable in the store and
// visible at every node to the key that asked for it; the unfinished job of a stopped or killed node begins again at another.
import { randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setInterval as ticks } from 'node:timers/promises';
import { isUnavailable } from '@strata/analytics-clickhouse';
import { StoreError } from '@strata/db';
import { DiskError } from '@strata/files';
import { FailureLog, type Notary, Refusal, type StoredFile } from '@strata/http';
import { encodeBase32, encodeHex } from '@strata/receipts';
import type { Logger } from 'pino';
import type { JobTable } from '../store/index.ts';
import { Changes } from './changes.ts';
import { isEnded, type Job, JobError, type JobOrder, jobRemoved } from './job.ts';
import { JobFiles } from './job-files.ts';
import { refuseExcess, surplusOf } from './job-limits.ts';
import { type Payer, payForJob } from './pay-for-job.ts';
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
/** A clean stop uses none. */
const MAX_ATTEMPTS = 5;

export class Jobs {
  readonly #deps: JobsDeps;
  readonly #files: JobFiles;
  readonly #owner = randomUUID();
  readonly #changes: Changes;
  /** Jobs whose upload is being received: they count as unfinished. */
  readonly #starting = new Set<Job>();
  /** The job that this node writes. */
  #working: Job | undefined;

  private constructor(deps: JobsDeps, files: JobFiles) {
    this.#deps = deps;
    this.#files = files;
    // On SQLite there is no other node; a poll only finds the jobs that a failure left.
    this.#changes = new Changes({ pollMs: deps.table.isShared ? POLL_MS : LEASE_MS });
  }

  /** On SQLite the only process of the store continues the jobs of the one before. */
  static async open(deps: JobsDeps): Promise<Jobs> {
    const { directory, table } = deps;
    const files = await JobFiles.open(directory, table);
    if (!table.isShared) {
      await table.expireLeases();
      await table.remove(files.withoutFiles(await table.list()).map(({ id }) => id));
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
    const begun = { state: 'queued', attempts: 0, stops: 0, rows: 0, ended_at: null, file: null, error: null } as const;
    const job: Job = { ...order, id, created_at, ...begun, is_paid: false };
    this.#starting.add(job);
    try {
      if (upload) await this.#files.saveUpload(job, upload);
      await table.add(job, check);
      this.#changes.notify();
      return job;
    } finally {
      this.#starting.delete(job);
    }
  }

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
      const { version } = this.#changes;
      const current = (await this.#find(job.id)) ?? job;
      if (isEnded(current) || timeout.aborted) return current;
      await this.#changes.wait(version, timeout);
    }
  }

  /** The file of a job that has ended; charges its rows once. Refuses what a failed or unfinished job cannot give. */
  async fileOf(job: Job, payer: Payer): Promise<StoredFile> {
    const { file, error } = job;
    if (error) throw new Refusal(error.code, error.detail);
    if (!file) {
      const detail = `The file is being written: ${job.rows} rows so far. Ask again, or wait for /stack/v1/jobs/${job.id}.`;
      throw new Refusal('unavailable', detail, { headers: { 'retry-after': '5' } });
    }
    const path = (await this.#files.localFile(job)) ?? jobRemoved();
    await payForJob(job, payer, { table: this.#deps.table, changes: this.#changes });
    return {
      path,
      sizeBytes: file.size_bytes,
      sha256: file.sha256,
      contentType: file.content_type,
      filename: `${job.table}.${job.format}`,
      provenance: file.provenance,
    };
  }

  /** Writes files until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { table, logger } = this.#deps;
    const failures = new FailureLog(logger, { what: 'finding jobs' });
    const sweepFailures = new FailureLog(logger, { what: 'removing old jobs' });
    for (let sweptAt = Number.NEGATIVE_INFINITY; !signal.aborted; ) {
      const { version } = this.#changes;
      if (performance.now() - sweptAt > SWEEP_MS) {
        sweptAt = performance.now();
        await this.#sweep(sweepFailures);
      }
      try {
        const next = await table.take(this.#lease);
        failures.recovered();
        if (next) {
          await this.#write(next.job, signal);
          sweptAt = Number.NEGATIVE_INFINITY;
        } else await this.#changes.wait(version, signal);
      } catch (error) {
        failures.failed(error);
        await this.#changes.wait(version, signal);
      }
    }
  }

  /** A failure is logged, and does not stop the queue. */
  async #sweep(failures: FailureLog): Promise<void> {
    const { table, now } = this.#deps;
    try {
      await table.remove(surplusOf(await table.list(), now()));
      await this.#files.sweep(this.#starting, () => table.list());
      failures.recovered();
    } catch (error) {
      failures.failed(error);
    }
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
      if (attempts - job.stops >= MAX_ATTEMPTS) throw new Error(`the file was not written in ${MAX_ATTEMPTS} attempts`);
      const written = await this.#writeFile(job, AbortSignal.any([signal, lost.signal]));
      await this.#end({ ...job, ...written, state: 'complete', ended_at: now().toISOString() });
    } catch (cause) {
      await rm(this.#files.pathOf(job, 'part'), { force: true }).catch(() => {});
      if (lost.signal.aborted) return;
      // A stopped process leaves the job to the next one.
      if (signal.aborted) return void (await table.save({ ...job, stops: job.stops + 1 }, { ...this.#lease, ms: 0 }));
      if (isUnavailable(cause)) {
        // However long ClickHouse is away, the job is not what fails.
        this.#working = { ...job, stops: job.stops + 1 };
        await table.save(this.#working, this.#lease);
      }
      if (cause instanceof StoreError || isUnavailable(cause))
        return logger.warn({ err: cause, id: job.id }, 'a job was interrupted: begins again when its lease ends');
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
    const source = await sourceOf(job, await this.#files.localUpload(job));
    const { rows, sizeBytes, sha256, contentType } = await writeTable(this.#files.pathOf(job, 'data'), source, {
      ...{ format: job.format, fields: job.fields, partPath: this.#files.pathOf(job, 'part'), signal },
      onRows: (rows) => {
        this.#working = { ...job, rows };
      },
      maxRows: job.max_rows ?? Number.POSITIVE_INFINITY,
    });
    await this.#files.storeFile(job, signal);
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
    if (!(await this.#deps.table.save(job, { ...this.#lease, ms: 0 }))) return;
    await rm(this.#files.pathOf(job, 'upload'), { force: true });
    this.#changes.notify();
  }
}

function errorOf(cause: unknown): NonNullable<Job['error']> {
  if (cause instanceof JobError) return { code: cause.code, detail: cause.message };
  if (cause instanceof Refusal) return { code: 'invalid_parameter', detail: cause.message };
  if (cause instanceof DiskError)
    return { code: 'unavailable', detail: 'The file could not be written. Try again later.' };
  return { code: 'internal_error', detail: 'An internal error occurred. Report the id of the job to the operator.' };
}
