// Exports of complete tables: the file at once, or as a job.
import { FILE_FORMATS, type RequestContext, type Route, route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import type { JobOrder } from '../../exports/job.ts';
import { ROWS_PER_REQUEST } from '../../exports/price.ts';
import { splitList, Word, WordList } from '../parameters.ts';
import type { ExportTable } from './export-table.ts';
import { JobSchema, jobReport } from './job-report.ts';
import { EXPORT_TABLES, sourceOf } from './tables.ts';

/** A GET gives the file of an equal one for this long: it can be resumed, and costs nothing more. */
const REUSED_MS = 3_600_000;
/** How long a GET waits for the file to be written: shorter than clients do. */
const WAIT_MS = 20_000;

export const fileParameters = (columns: readonly { readonly name: string }[]) => ({
  format: Word(FILE_FORMATS).describe('Format of the file.').default('csv'),
  fields: WordList(columns.map(({ name }) => name))
    .describe('Columns of the file, in this order, separated by commas.')
    .optional(),
});

interface Input extends Readonly<Record<string, unknown>> {
  readonly format: JobOrder['format'];
  readonly fields?: string | undefined;
}

/** The order of a request. */
export function orderOf(
  { format, fields, ...filter }: Input,
  {
    table,
    upload = null,
    key,
  }: { readonly table: string; readonly upload?: string | null } & Pick<RequestContext, 'key'>,
): JobOrder {
  const limit = key?.dailyLimit ?? null;
  return {
    key_id: key?.id ?? '',
    ...{ table, format, upload },
    fields: fields === undefined ? null : [...new Set(splitList(fields))],
    filter: Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined)),
    max_rows: limit === null ? null : limit * ROWS_PER_REQUEST,
  };
}

const COST = `A file that is not there yet costs one request of the quota, and the first fetch one per started ${ROWS_PER_REQUEST} rows.`;

function routesOf(table: ExportTable): Route<StackApp>[] {
  const { name, summary, description, columns, parameters } = table;
  const path = `/stack/v1/exports/${name}`;
  const listed = columns.map((column) => `\`${column.name}\`: ${column.description}`).join(' ');
  const query = z.object({ ...parameters, ...fileParameters(columns) });
  /** Refuses a filter that cannot be used before there is a job. */
  const checkedOrder = (app: StackApp, input: unknown, { key }: Pick<RequestContext, 'key'>): JobOrder => {
    const order = orderOf(input as Input, { table: name, key });
    sourceOf(app, order, '');
    return order;
  };
  const common = { path, tag: 'Exports', query } as const;
  const getExport = route(
    {
      ...{ ...common, method: 'GET', summary, isChargedByHandler: true },
      description:
        `${description} The complete table as a file, which is written once and can be fetched in ranges; an equal request within an hour gets the same file. ${COST} ` +
        `503 with \`Retry-After\` while it is being written. Columns: ${listed}`,
      output: { kind: 'file', description: 'The file, with its receipt.' },
    },
    async (app: StackApp, input, context) => {
      const order = checkedOrder(app, input, context);
      const begin = () => context.charge(1).then(() => app.jobs.start(order));
      const begun = (await app.jobs.latest(order, REUSED_MS)) ?? (await begin());
      const job = await app.jobs.ended(begun, { waitMs: WAIT_MS, signal: context.signal });
      return app.jobs.fileOf(job, context);
    },
  );
  const postExport = route(
    {
      ...{ ...common, method: 'POST', summary: `Starts a job: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}` },
      description: `202 with the job, and its path in \`Location\`. The job costs one request, and its file one per started ${ROWS_PER_REQUEST} rows when it is first fetched.`,
      output: { kind: 'signed', status: 202, schema: z.object({ job: JobSchema }) },
    },
    async (app: StackApp, input, context) => {
      const job = await app.jobs.start(checkedOrder(app, input, context));
      context.setHeader('location', `/stack/v1/jobs/${job.id}`);
      return { job: jobReport(job) };
    },
  );
  return [getExport, postExport];
}

export const exportRoutes: readonly Route<StackApp>[] = EXPORT_TABLES.flatMap(routesOf);
