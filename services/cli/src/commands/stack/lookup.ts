// `strata stack lookup`: what a service knows about a list of domains, as a table, CSV, NDJSON, Parquet or JSON.
import { openAsBlob } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type Job, StackTables, type TableFormat } from '@strata/client';
import type { CommandContext } from '../../context.ts';
import { CommandError, usageError } from '../../errors.ts';
import { counted, printJson, printRejected, printTable } from '../../output.ts';
import { startStatusLine } from '../../progress.ts';
import { refused, type ServiceOptions, serviceOf } from '../records/service-client.ts';
import { readTargets } from '../scan/scan-targets.ts';

export interface LookupCommandOptions extends ServiceOptions {
  readonly fields?: string;
  readonly format: 'table' | 'json' | TableFormat;
}

/** The limit of a look-up that is answered at once; longer lists are jobs. */
const NAMES_AT_ONCE = 1_000;
const BYTES_AT_ONCE = 250_000;
/** Those that fit on a screen; `error` only where a name is invalid. */
const TABLE_FIELDS = ['domain', 'state', 'sector', 'grade', 'dns', 'mailbox', 'edge', 'origin', 'error'];

type Row = Readonly<Record<string, string | number | null>>;

export async function lookupCommand(
  { stdin, stdout, stderr }: CommandContext,
  targets: readonly string[],
  { fields: names, format, ...service }: LookupCommandOptions,
): Promise<void> {
  const { baseUrl, key } = serviceOf(service);
  if (format === 'parquet' && stdout.isTTY) throw usageError('Parquet is binary: redirect it to a file');
  const fields = names?.split(',').map((name) => name.trim()) ?? (format === 'table' ? TABLE_FIELDS : undefined);
  const list = (await csvFile(targets)) ?? (await namesOf(targets, { stdin, stderr }));

  const isText = format === 'table' || format === 'json';
  const options = { format: isText ? ('ndjson' as const) : format, fields };
  const chunks = await fileOf(new StackTables({ baseUrl, key }), list, { ...options, stderr }).catch(refused);
  if (!isText) return await pipeline(chunks, stdout, { end: false });
  const rows = (await textOf(chunks)).split('\n').flatMap((line): Row[] => (line === '' ? [] : [JSON.parse(line)]));
  if (format === 'json') return printJson(stdout, { rows });
  const isShown = (column: string) => names !== undefined || column !== 'error' || rows.some((row) => row.error);
  const columns = Object.keys(rows[0] ?? {}).filter(isShown);
  printTable(
    stdout,
    columns,
    rows.map((row) => columns.map((column) => String(row[column] ?? ''))),
  );
}

interface SentList {
  readonly content: Blob;
  readonly type: 'text/csv' | 'application/x-ndjson';
  readonly isShort: boolean;
  /** Follows the number of rows while a job runs: `of 2001 domains`. */
  readonly total: string;
}

/** A single CSV file is sent as it is: its other columns are returned. */
async function csvFile(targets: readonly string[]): Promise<SentList | undefined> {
  const [file = '', ...more] = targets;
  if (more.length > 0 || !/\.csv$/i.test(file)) return undefined;
  // Without the file, reading it as a list of names reports why.
  const content = await Promise.try(() => openAsBlob(file)).catch(() => undefined);
  if (!content) return undefined;
  const isSmall = content.size <= BYTES_AT_ONCE;
  const lines = isSmall ? (await content.text()).split('\n').length : Number.POSITIVE_INFINITY;
  return { content, type: 'text/csv', isShort: lines <= NAMES_AT_ONCE, total: `rows of ${file}` };
}

async function namesOf(
  targets: readonly string[],
  { stdin, stderr }: Pick<CommandContext, 'stdin' | 'stderr'>,
): Promise<SentList> {
  const { texts, rejected } = await readTargets(targets, stdin);
  printRejected(stderr, rejected);
  if (texts.length === 0) throw new CommandError('no domains to look up');
  const content = new Blob(texts.map((text) => `${JSON.stringify(text)}\n`));
  const isShort = texts.length <= NAMES_AT_ONCE && content.size <= BYTES_AT_ONCE;
  return { content, type: 'application/x-ndjson', isShort, total: `of ${counted(texts.length, 'domain')}` };
}

interface FileLookupOptions extends Pick<CommandContext, 'stderr'> {
  readonly format: TableFormat;
  readonly fields: readonly string[] | undefined;
}

/** The file with the rows. */
async function fileOf(
  tables: StackTables,
  { content, type, isShort, total }: SentList,
  { stderr, ...options }: FileLookupOptions,
): Promise<AsyncIterable<Uint8Array>> {
  const names = { content, type };
  if (isShort) {
    const bytes = await tables.lookup(names, options);
    return (async function* () {
      yield bytes;
    })();
  }
  let state: Job = await tables.startLookup(names, options);
  const line = startStatusLine(stderr, () => `${state.rows} ${total}`);
  const onProgress = (job: Job) => {
    state = job;
  };
  const { error, file } = await tables.ended(state, { onProgress }).finally(() => line.stop());
  if (error || !file) throw new CommandError(error?.detail ?? 'the job has no file');
  return (await tables.file(file)).chunks;
}

async function textOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString('utf8');
}
