// A job as clients see it.
import { FILE_FORMATS } from '@strata/http';
import { z } from 'zod';
import { type Job, KEPT_MS } from '../../exports/job.ts';
import { priceOf } from '../../exports/price.ts';

export const JobSchema = z
  .object({
    id: z.string(),
    state: z.enum(['queued', 'running', 'complete', 'failed']),
    table: z.string().describe('The exported table, or `lookup`.'),
    format: z.enum(FILE_FORMATS),
    created_at: z.iso.datetime(),
    ended_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable().describe('When an ended job and its file are removed at the latest.'),
    rows: z.int().min(0).describe('Rows written so far.'),
    cost: z
      .int()
      .nullable()
      .describe('Requests of the quota that the first fetch of the file costs; null until complete.'),
    is_paid: z.boolean().describe('Whether the file costs nothing more.'),
    size_bytes: z.int().nullable(),
    sha256: z.string().nullable().describe('Of the complete file, in hex.'),
    file: z.string().nullable().describe('Path of the complete file.'),
    error: z.object({ code: z.string(), detail: z.string() }).nullable().describe('Why a failed job has no file.'),
  })
  .meta({ id: 'Job' });

export function jobReport(job: Job): z.input<typeof JobSchema> {
  const { id, state, table, format, created_at, ended_at, rows, is_paid, file, error } = job;
  return {
    ...{ id, state, table, format, created_at, ended_at },
    expires_at: ended_at && new Date(Date.parse(ended_at) + KEPT_MS).toISOString(),
    rows,
    cost: file && priceOf(rows),
    is_paid,
    size_bytes: file?.size_bytes ?? null,
    sha256: file?.sha256 ?? null,
    file: file && `/stack/v1/jobs/${id}/file`,
    error,
  };
}
