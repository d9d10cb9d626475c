// Jobs of all API nodes. A node that works on a job holds its lease; the job of a killed node is free when the lease ends.
import { withRetries, writeTransaction } from '@strata/db';
import type { Kysely, Selectable } from 'kysely';
import { isEnded, Job } from '../../exports/job.ts';
import type { Database } from '../schema.ts';
import { JobChunks } from './job-chunks.ts';
import type { JobTables } from './job-tables.ts';

export interface JobLease {
  /** Unique. */
  readonly owner: string;
  readonly ms: number;
}

export interface TakenJob {
  readonly job: Job;
  /** The lease of another process ended, and was not released. */
  readonly isAbandoned: boolean;
}

/** Rows that only another version can read are removed after this time, longer than jobs are kept. */
const UNREADABLE_MS = 2 * 24 * 3_600_000;

export class JobTable {
  readonly #db: Kysely<Database>;
  /** The clock of leases. */
  readonly #clock: () => Date;
  readonly isShared: boolean;
  /** Where nodes share the content of files; undefined on SQLite, whose one process has them in a directory. */
  readonly chunks: JobChunks | undefined;

  constructor(db: Kysely<Database>, { clock, isShared }: { readonly clock: () => Date; readonly isShared: boolean }) {
    this.#db = db;
    this.#clock = clock;
    this.isShared = isShared;
    this.chunks = isShared ? new JobChunks(db, clock) : undefined;
  }

  /** Oldest first; of another version are skipped. */
  async list(): Promise<Job[]> {
    return jobsIn(await this.#all().execute());
  }

  #all(db: Pick<Kysely<Database>, 'selectFrom'> = this.#db) {
    return db.selectFrom('jobs').orderBy('created_at').orderBy('id').selectAll();
  }

  async find(id: string): Promise<Job | undefined> {
    return jobsIn(await this.#db.selectFrom('jobs').where('id', '=', id).selectAll().execute())[0];
  }

  /** Adds a job unless `check` of the stored ones throws. */
  async add(job: Job, check: (stored: readonly Job[]) => void): Promise<void> {
    const { id, created_at } = job;
    const free = { lease_owner: null, lease_until: 0 };
    await writeTransaction(this.#db, async (tx) => {
      check(jobsIn(await this.#all(tx).execute()));
      const row = { id, created_at: Date.parse(created_at), is_ended: 0, body: JSON.stringify(job), ...free };
      await tx.insertInto('jobs').values(row).execute();
    });
  }

  /** Takes the oldest unfinished job that no process works on, or the named one if it has ended. */
  async take({ owner, ms }: JobLease, id?: string): Promise<TakenJob | undefined> {
    const now = this.#clock().getTime();
    const is_ended = id === undefined ? 0 : 1;
    const free = this.#all().where('is_ended', '=', is_ended).where('lease_until', '<=', now);
    // There is rarely one: reading costs less than an update.
    const found = await (id === undefined ? free : free.where('id', '=', id)).execute();
    const next = found.find(isReadable);
    if (!next) return undefined;
    // Of concurrent statements the later ones find the lease that the first one wrote.
    const take = this.#db
      .updateTable('jobs')
      .set({ lease_owner: owner, lease_until: now + ms })
      .where('id', '=', next.id)
      .where('is_ended', '=', is_ended)
      .where('lease_until', '<=', now)
      .returningAll();
    const [job] = jobsIn(await withRetries(() => take.execute()));
    return job && { job, isAbandoned: next.lease_owner !== null };
  }

  /** Saves the job and extends the lease, or ends it (0 ms). False if another process has taken the job: nothing is written. */
  async save(job: Job, { owner, ms }: JobLease): Promise<boolean> {
    const lease = ms > 0 ? { lease_until: this.#clock().getTime() + ms } : { lease_owner: null, lease_until: 0 };
    const save = this.#db
      .updateTable('jobs')
      .set({ body: JSON.stringify(job), is_ended: isEnded(job) ? 1 : 0, ...lease })
      .where('id', '=', job.id)
      .where('lease_owner', '=', owner);
    const { numUpdatedRows } = await withRetries(() => save.executeTakeFirst());
    return numUpdatedRows > 0;
  }

  /** Ends all leases, as if their time were over. */
  async expireLeases(): Promise<void> {
    await this.#db.updateTable('jobs').set({ lease_until: 0 }).execute();
  }

  /** Removes ended jobs, except those that a process charges for; old rows of another version; and content without a job. */
  async remove(ids: readonly string[]): Promise<void> {
    const now = this.#clock().getTime();
    const old = await this.#all()
      .where('created_at', '<', now - UNREADABLE_MS)
      .execute();
    const all = [...ids, ...old.filter((row) => !isReadable(row)).map(({ id }) => id)];
    for (const id of all)
      await this.#db.deleteFrom('jobs').where('id', '=', id).where('lease_until', '<=', now).execute();
    await this.chunks?.removeUnused(all);
  }
}

type Row = Selectable<JobTables['jobs']>;

function jobsIn(rows: readonly Row[]): Job[] {
  return rows.flatMap(({ body }) => Job.safeParse(JSON.parse(body)).data ?? []);
}

const isReadable = (row: Row): boolean => jobsIn([row]).length > 0;
