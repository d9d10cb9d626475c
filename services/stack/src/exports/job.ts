// A job: one file of rows that the service writes for a key, and what is stored about it.
import { FILE_FORMATS, Refusal } from '@strata/http';
import { z } from 'zod';

/** Finished jobs are removed after this time. */
export const KEPT_MS = 24 * 3_600_000;

/** Codes of problems: what a request for the file of a failed job is refused with. */
const JOB_ERRORS = ['invalid_parameter', 'quota_exceeded', 'unavailable', 'internal_error'] as const;

/** What is asked for; two equal orders of a key give the same rows at the same time. */
const Order = z.object({
  key_id: z.string(),
  table: z.string(),
  format: z.enum(FILE_FORMATS),
  /** Columns in their order; null: all. */
  fields: z.array(z.string()).nullable(),
  /** The validated filter of the table. */
  filter: z.record(z.string(), z.unknown()),
  /** Media type of the uploaded names; null for a table that is not of names. */
  upload: z.string().nullable(),
  /** More rows than the key can pay for on one day are not written; null: any number. */
  max_rows: z.int().min(0).nullable(),
});
export type JobOrder = Readonly<z.output<typeof Order>>;

/** The stored state. Times are ISO 8601 UTC. */
export const Job = Order.extend({
  id: z.string().regex(/^job_[a-z2-7]{24}$/),
  created_at: z.iso.datetime(),
  /** A job that was running when its process ended begins again. */
  state: z.enum(['queued', 'running', 'complete', 'failed']),
  /** How often its file was begun. */
  attempts: z.int().min(0),
  /** Attempts that ended because the process stopped, or because ClickHouse was unavailable. */
  stops: z.int().min(0).default(0),
  /** Rows written so far. */
  rows: z.int().min(0),
  ended_at: z.iso.datetime().nullable(),
  file: z
    .object({ size_bytes: z.int(), sha256: z.string(), content_type: z.string(), provenance: z.string() })
    .nullable(),
  error: z.object({ code: z.enum(JOB_ERRORS), detail: z.string() }).nullable(),
  /** Whether the rows were counted against the quota. */
  is_paid: z.boolean(),
});
export type Job = Readonly<z.output<typeof Job>>;

export const isEnded = ({ state }: Job): boolean => state === 'complete' || state === 'failed';

export function jobRemoved(): never {
  throw new Refusal('unavailable', 'The file of the job was just removed. Start it again.');
}

/** Why a job cannot give its file. */
export class JobError extends Error {
  override readonly name = 'JobError';
  readonly code: (typeof JOB_ERRORS)[number];

  constructor(code: (typeof JOB_ERRORS)[number], message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
