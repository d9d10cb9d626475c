// The tools for many domains: a look-up of a list, and complete tables as files of the service.
import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Job, StackAnswer } from '@strata/client';
import { receiptOf } from '@strata/questions';
import { z } from 'zod';
import type { AskOptions } from './ask.ts';
import { lastLines, quotaOf, type ResultBody, toolResult } from './tool-result.ts';

/** A result has so many rows of so many columns; one request of the quota pays for them. */
export const MAX_NAMES = 100;
const MAX_FIELDS = 12;
const FIELDS = ['domain', 'state', 'error', 'sector', 'score', 'grade', 'dns', 'mailbox', 'edge', 'origin'];

export const lookupTool = {
  name: 'stack_lookup',
  title: 'Look up many domains',
  description: `What is known about up to ${MAX_NAMES} domains, one row each, without scans. state: active, parked, nonexistent, unmeasured, unknown (never scanned) or invalid; roles (dns, mailbox, edge, origin, …) hold provider ids. For one domain with evidence use stack_domain.`,
  input: z.object({
    domains: z.array(z.string().max(253)).min(1).max(MAX_NAMES),
    fields: z
      .array(z.string().max(64))
      .min(1)
      .max(MAX_FIELDS)
      .default(FIELDS)
      .describe('Columns, as also scanned_at, gateway, sender, spf, dmarc, dnssec, caa.'),
  }),
} as const;

export async function lookUp(
  { domains, fields }: z.output<typeof lookupTool.input>,
  options: AskOptions,
): Promise<CallToolResult> {
  const answer = await options.client.lookup(domains, { fields, signal: options.signal });
  const { rows } = answer.body;
  const lines = rows.map((row) =>
    Object.entries(row)
      .filter(([, cell]) => cell !== null && cell !== '')
      .map(([name, cell]) => `${name} ${JSON.stringify(cell)}`)
      .join(', '),
  );
  return resultOf(answer, { rows }, lines, options);
}

export const exportTool = {
  name: 'stack_export',
  title: 'Export a table',
  description:
    'Starts a job that writes a table as a file, or with job returns its state: state, rows, cost, file. Tables: domains, services, records, scorecard (query restricts them), history (changes). The file is for the user: it is downloaded from url with the key in X-Stack-Key, and costs one request per started 100 rows when it is first fetched.',
  input: z
    .object({
      table: z.enum(['domains', 'services', 'records', 'history', 'scorecard']).optional(),
      format: z.enum(['csv', 'ndjson', 'parquet']).default('csv'),
      query: z.string().trim().min(1).max(2_000).describe('As in stack_search.').optional(),
      job: z
        .string()
        .regex(/^job_[a-z2-7]{24}$/, 'must be the id of a job')
        .optional(),
    })
    .refine(({ table, job }) => (table === undefined) !== (job === undefined), { error: 'pass either table or job' }),
} as const;

export async function exportTable(
  { table, format, query, job: id }: z.output<typeof exportTool.input>,
  options: AskOptions,
): Promise<CallToolResult> {
  const { client, signal } = options;
  const path = { id: id ?? '' };
  const answer: StackAnswer<{ readonly job: Job }> =
    table === undefined
      ? await client.get('/stack/v1/jobs/{id}', { path, query: { wait: 20 } }, { signal })
      : await client.send(`POST /stack/v1/exports/${table}`, { query: { format, query } }, { signal });
  const { job } = answer.body;
  const url = job.file && new URL(job.file, answer.url).href;
  const line = `${job.id}: ${job.state}, ${job.rows} rows${url ? `, ${url}` : ''}${job.error ? `, ${job.error.detail}` : ''}`;
  return resultOf(
    answer,
    { ...job, url },
    [line, ...(url || job.error ? [] : [`Call again with job ${job.id}.`])],
    options,
  );
}

/** The result of an answer that is shown as `answer`. */
export function resultOf(
  { body: complete, text, quota }: StackAnswer<object>,
  answer: object,
  lines: readonly string[],
  { recent }: AskOptions,
): CallToolResult {
  const body: ResultBody = { answer: { ...answer }, ...receiptOf(complete), ...quotaOf(quota) };
  if (body.receipt) recent.add(body.receipt.receipt_id, text);
  return toolResult(lines, lastLines(body), body);
}
