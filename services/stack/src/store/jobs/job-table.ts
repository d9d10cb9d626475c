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

  /** Takes the oldest unfinished job that no process works on, or the named job of any state. */
  async take({ owner, ms }: JobLease, id?: string): Promise<Job | undefined> {
    const now = this.#clock().getTime();
    const free = this.#db.selectFrom('jobs').where('lease_until', '<=', now).orderBy('created_at').orderBy('id');
    const which = id === undefined ? free.where('is_ended', '=', 0) : free.where('id', '=', id);
    // Of concurrent statements the later ones find the lease that the first one wrote.
    const take = this.#db
      .updateTable('jobs')
      .set({ lease_owner: owner, lease_until: now + ms })
      .where('id', '=', which.limit(1).select('id'))
      .where('lease_until', '<=', now)
      .returningAll();
    return jobsIn(await withRetries(() => take.execute()))[0];
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

  /** Ends the leases of an owner, or of all. */
  async release(owner?: string): Promise<void> {
    const release = this.#db.updateTable('jobs').set({ lease_owner: null, lease_until: 0 });
    await (owner === undefined ? release : release.where('lease_owner', '=', owner)).execute();
  }

  /** Removes ended jobs, except those that a process charges for; and content without a job. */
  async remove(ids: readonly string[]): Promise<void> {
    const now = this.#clock().getTime();
    for (const id of ids)
      await this.#db.deleteFrom('jobs').where('id', '=', id).where('lease_until', '<=', now).execute();
    await this.chunks?.removeUnused(ids);
  }
}

function jobsIn(rows: readonly Selectable<JobTables['jobs']>[]): Job[] {
  return rows.flatMap(({ body }) => Job.safeParse(JSON.parse(body)).data ?? []);
}
