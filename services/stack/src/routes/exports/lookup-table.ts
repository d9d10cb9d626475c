// The table of a look-up by job: one row for each uploaded name, read from the upload as a stream.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Delimiter, delimiterOf } from '@strata/detect';
import type { Cell, Row } from '@strata/http';
import { CsvError, parse } from 'csv-parse';
import type { StackApp } from '../../context.ts';
import { JobError } from '../../exports/job.ts';
import type { TableSource } from '../../exports/write-table.ts';
import { CSV_OPTIONS, csvLayout } from '../domains/csv-layout.ts';
import { nameOnLine } from '../domains/lookup-names.ts';
import { type GivenName, LOOKUP_COLUMNS, lookupCells } from '../domains/lookup-rows.ts';
import { elementsOf } from './json-elements.ts';

/** Maximum names of a job, and bytes of its upload. */
export const MAX_JOB_NAMES = 1_000_000;
export const UPLOAD_BYTES = 64 * 1024 * 1024;
export const UPLOAD_TYPES = ['text/csv', 'application/x-ndjson', 'application/json'] as const;
const AT_ONCE = 500;
/** A longer line, or row of CSV, is not one of names. */
const MAX_RECORD = 65_536;
const LINE_FEED = 10;

/** A job reads two rows of CSV more than once: they show which column has the names. */
export async function lookupSource(app: StackApp, upload: string | null, uploadPath: string): Promise<TableSource> {
  if (upload !== 'text/csv') {
    const lines =
      upload === 'application/json' ? elementsOf(createReadStream(uploadPath), MAX_RECORD) : linesOf(uploadPath);
    return { columns: LOOKUP_COLUMNS, batches: lookupRows(app, namesOnLines(lines)) };
  }
  const delimiter = delimiterOf(await firstLineOf(uploadPath));
  const { isHeader, extra, nameIn } = csvLayout(await headOf(rowsOfCsv(uploadPath, delimiter)));
  const columns = [...LOOKUP_COLUMNS, ...extra.map((name) => ({ name, description: '' }))];
  const names = async function* () {
    let skipped = isHeader ? 1 : 0;
    for await (const row of rowsOfCsv(uploadPath, delimiter)) if (skipped-- <= 0) yield nameIn(row);
  };
  return { columns, extra, batches: lookupRows(app, names()) };
}

async function headOf(rows: AsyncIterable<string[]>): Promise<string[][]> {
  const head: string[][] = [];
  for await (const row of rows) if (head.push(row) === 2) break;
  return head;
}

async function* lookupRows(app: StackApp, names: AsyncIterable<GivenName>): AsyncGenerator<Row[]> {
  let [count, some]: [number, GivenName[]] = [0, []];
  for await (const name of names) {
    count += 1;
    if (count > MAX_JOB_NAMES)
      throw new JobError('invalid_parameter', `The upload has more than ${MAX_JOB_NAMES} names.`);
    some.push(name);
    if (some.length < AT_ONCE) continue;
    yield await rowsOf(app, some);
    some = [];
  }
  if (count === 0) throw new JobError('invalid_parameter', 'The upload has no names.');
  yield await rowsOf(app, some);
}

async function rowsOf(app: StackApp, names: readonly GivenName[]): Promise<Row[]> {
  const rows: Cell[][] = await lookupCells(app, names);
  return rows.map((cells, i) => {
    const extra = names[i]?.extra;
    if (extra) cells.length = LOOKUP_COLUMNS.length;
    return [...cells, ...(extra ?? [])];
  });
}

async function* rowsOfCsv(file: string, delimiter: Delimiter): AsyncGenerator<string[]> {
  const parser = parse({ ...CSV_OPTIONS, delimiter, maxRecordSize: MAX_RECORD });
  // Its errors end the loop below. The file is closed however the loop ends.
  pipeline(createReadStream(file), boundedLines, parser).catch(() => {});
  try {
    for await (const row of parser as AsyncIterable<string[]>) yield row;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new JobError('invalid_parameter', `The upload is not CSV: ${error.message}`, { cause: error });
  } finally {
    parser.destroy();
  }
}

async function firstLineOf(file: string): Promise<string> {
  for await (const line of linesOf(file)) return line;
  return '';
}

async function* namesOnLines(lines: AsyncIterable<string>): AsyncGenerator<GivenName> {
  for await (const line of lines) yield nameOnLine(line);
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const lines = new PassThrough();
  pipeline(createReadStream(file), boundedLines, lines).catch(() => {});
  try {
    const input = createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of input) if (line.trim() !== '') yield line;
    if (lines.errored) throw lines.errored;
  } finally {
    lines.destroy();
  }
}

/** Refuses a line that would cost much memory to parse. */
async function* boundedLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      refuseLong(length + end - from);
      [length, from] = [0, end + 1];
    }
    length += chunk.length - from;
    refuseLong(length);
    yield chunk;
  }
}

function refuseLong(length: number): void {
  if (length > MAX_RECORD)
    throw new JobError('invalid_parameter', `The upload has a line of more than ${MAX_RECORD} bytes.`);
}
