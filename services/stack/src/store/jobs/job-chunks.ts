// The content of the files of jobs, in PostgreSQL: every API node can continue a job of a killed node and serve its file, without a
// shared file system or connections between nodes. Each attempt has rows of its own, so that a stalled process cannot
// change the file of another one. Rows without a job are removed.
import { createReadStream } from 'node:fs';
import { listed, withRetries } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

const CHUNK_BYTES = 1024 * 1024;
/** The upload is stored before its job. */
const UNFINISHED_MS = 3_600_000;

export interface FileOfJob {
  readonly id: string;
  /** 0: the upload. */
  readonly attempt: number;
}

export class JobChunks {
  readonly #db: Kysely<Database>;
  readonly #clock: () => Date;

  constructor(db: Kysely<Database>, clock: () => Date) {
    this.#db = db;
    this.#clock = clock;
  }

  /** Stores a local file, a chunk in each statement. */
  async store({ id, attempt }: FileOfJob, file: string, signal?: AbortSignal): Promise<void> {
    let n = 0;
    for await (const bytes of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
      signal?.throwIfAborted();
      const row = { job_id: id, attempt, n, created_at: this.#clock().getTime(), bytes: bytes as Buffer };
      await withRetries(() => this.#db.insertInto('job_chunks').values(row).execute());
      n += 1;
    }
  }

  /** The stored content, in order. */
  async *read({ id, attempt }: FileOfJob): AsyncGenerator<Uint8Array> {
    const chunks = this.#db.selectFrom('job_chunks').where('job_id', '=', id).where('attempt', '=', attempt);
    for (let n = 0; ; n += 1) {
      const row = await chunks.where('n', '=', n).select('bytes').executeTakeFirst();
      if (!row) return;
      yield row.bytes;
    }
  }

  /**
   * Removes the content of these jobs, if they were removed; what has had no job for an hour; and of the other jobs everything
   * but the upload and the current attempt of an unfinished one, and the file of a complete one.
   */
  async removeUnused(ids: readonly string[]): Promise<void> {
    const before = this.#clock().getTime() - UNFINISHED_MS;
    await sql`delete from job_chunks where not exists (select 1 from jobs where id = job_id and case attempt
        when 0 then is_ended = 0
        when (body::json ->> 'attempts')::bigint then is_ended = 0 or body::json ->> 'file' is not null end)
      and (created_at < ${before} or job_id in ${listed(this.#db, ids)}
        or exists (select 1 from jobs where id = job_id))`.execute(this.#db);
  }
}
