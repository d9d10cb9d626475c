// Jobs: their state, their file, and look-ups of uploaded lists.
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import type { Job } from '../../exports/job.ts';
import { ROWS_PER_REQUEST } from '../../exports/price.ts';
import { LOOKUP_COLUMNS } from '../domains/lookup-rows.ts';
import { Integer } from '../parameters.ts';
import { fileParameters, orderOf } from './exports.ts';
import { JobSchema, jobReport } from './job-report.ts';
import { MAX_JOB_NAMES, UPLOAD_BYTES, UPLOAD_TYPES } from './lookup-table.ts';

const params = z.object({ id: z.string().max(64).describe('Id of a job: `job_…`.') });

interface JobContext {
  readonly key: { readonly id: string } | undefined;
  refuse(code: 'not_found', detail: string): never;
}

async function jobOf({ jobs }: StackApp, id: string, { key, refuse }: JobContext): Promise<Job> {
  const job = await jobs.find(id, key?.id ?? '');
  return (
    job ??
    refuse(
      'not_found',
      'This key has no such job. Jobs are removed a day after their end, or earlier when the disk space for jobs is used up.',
    )
  );
}

const MINE = 'A job is visible to the key that started it, at every API node.';

export const postLookups = route(
  {
    method: 'POST',
    path: '/stack/v1/lookups',
    tag: 'Domains',
    summary: `Starts a job: what is known about up to ${MAX_JOB_NAMES.toLocaleString('en')} domains`,
    description:
      'The body is read as by `/stack/v1/domains:lookup`, or is a JSON list of names or of objects with `domain`. The rows of the file are those of a look-up. 202 with the job, and its path in `Location`. ' +
      `The job costs one request, and its file one per started ${ROWS_PER_REQUEST} rows when it is first fetched.`,
    query: z.object(fileParameters(LOOKUP_COLUMNS)),
    upload: UPLOAD_TYPES,
    bodyBytes: UPLOAD_BYTES,
    output: { kind: 'signed', status: 202, schema: z.object({ job: JobSchema }) },
    errors: ['payload_too_large', 'unsupported_media_type'],
  },
  async (app: StackApp, input, { key, upload, setHeader }) => {
    const order = orderOf(input, { table: 'lookup', upload: upload?.type ?? null, key });
    const job = await app.jobs.start(order, upload?.content);
    setHeader('location', `/stack/v1/jobs/${job.id}`);
    return { job: jobReport(job) };
  },
);

export const getJobs = route(
  {
    method: 'GET',
    path: '/stack/v1/jobs',
    tag: 'Exports',
    summary: 'The jobs of the key, newest first',
    description: MINE,
    output: { kind: 'signed', schema: z.object({ total: z.int().min(0), jobs: z.array(JobSchema) }) },
  },
  async ({ jobs }: StackApp, _input, { key }) => {
    const own = (await jobs.of(key?.id ?? '')).map(jobReport);
    return { total: own.length, jobs: own };
  },
);

export const getJob = route(
  {
    method: 'GET',
    path: '/stack/v1/jobs/{id}',
    tag: 'Exports',
    summary: 'State and progress of a job',
    description: MINE,
    params,
    query: z.object({
      wait: Integer({ min: 0, max: 20 }).describe('Seconds to wait for the end of the job.').default(0),
    }),
    output: { kind: 'signed', schema: z.object({ job: JobSchema }) },
    errors: ['not_found'],
  },
  async (app: StackApp, { id, wait }, context) => {
    const job = await app.jobs.ended(await jobOf(app, id, context), { waitMs: wait * 1_000, signal: context.signal });
    return { job: jobReport(job) };
  },
);

export const getJobFile = route(
  {
    method: 'GET',
    path: '/stack/v1/jobs/{id}/file',
    tag: 'Exports',
    summary: 'The file of a job',
    description: `${MINE} It can be fetched in ranges. The first fetch costs one request per started ${ROWS_PER_REQUEST} rows, further ones nothing. 503 with \`Retry-After\` while it is being written.`,
    params,
    output: { kind: 'file', description: 'The file, with its receipt.' },
    errors: ['not_found'],
    isChargedByHandler: true,
  },
  async (app: StackApp, { id }, context) => app.jobs.fileOf(await jobOf(app, id, context), context),
);
