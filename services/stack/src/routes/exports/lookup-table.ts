// The table of a look-up by job: one row for each uploaded name, read from the upload as a stream.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Row } from '@strata/http';
import { CsvError, parse } from 'csv-parse';
import type { StackApp } from '../../context.ts';
import { JobError } from '../../exports/job.ts';
import type { TableSource } from '../../exports/write-table.ts';
import { type GivenName, nameColumn, nameOnLine } from '../domains/lookup-names.ts';
import { LOOKUP_COLUMNS, lookupCells } from '../domains/lookup-rows.ts';

/** Maximum names of a job, and bytes of its upload. */
export const MAX_JOB_NAMES = 1_000_000;
export const UPLOAD_BYTES = 64 * 1024 * 1024;
export const UPLOAD_TYPES = ['text/csv', 'application/x-ndjson'] as const;
const AT_ONCE = 500;
/** A longer line, or row of CSV, is not one of names. */
const MAX_RECORD = 65_536;
const LINE_FEED = 10;

export function lookupSource(app: StackApp, upload: string | null, uploadPath: string): TableSource {
  const names = upload === 'text/csv' ? namesOfCsv(uploadPath) : namesOfLines(uploadPath);
  return { columns: LOOKUP_COLUMNS, batches: lookupRows(app, names) };
}

async function* lookupRows(app: StackApp, names: AsyncIterable<GivenName>): AsyncGenerator<Row[]> {
  let [count, rows]: [number, Row[]] = [0, []];
  for await (const name of names) {
    count += 1;
    if (count > MAX_JOB_NAMES)
      throw new JobError('invalid_parameter', `The upload has more than ${MAX_JOB_NAMES} names.`);
    rows.push(lookupCells(app, name));
    if (rows.length < AT_ONCE) continue;
    yield rows;
    rows = [];
  }
  if (count === 0) throw new JobError('invalid_parameter', 'The upload has no names.');
  yield rows;
}

async function* namesOfCsv(file: string): AsyncGenerator<GivenName> {
  const options = { bom: true, relaxColumnCount: true, skipEmptyLines: true, trim: true, maxRecordSize: MAX_RECORD };
  const parser = parse(options);
  // Its errors end the loop below. The file is closed however the loop ends.
  pipeline(createReadStream(file), boundedLines, parser).catch(() => {});
  let column: number | undefined;
  try {
    for await (const row of parser as AsyncIterable<string[]>) {
      const isFirst = column === undefined;
      const { at, isHeader } = isFirst ? nameColumn(row) : { at: column ?? 0, isHeader: false };
      column = at;
      if (!isHeader) yield { text: row[at] ?? '' };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new JobError('invalid_parameter', `The upload is not CSV: ${error.message}`, { cause: error });
  } finally {
    parser.destroy();
  }
}

async function* namesOfLines(file: string): AsyncGenerator<GivenName> {
  const lines = new PassThrough();
  pipeline(createReadStream(file), boundedLines, lines).catch(() => {});
  try {
    const input = createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY });
    for await (const line of input) if (line.trim() !== '') yield nameOnLine(line);
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
