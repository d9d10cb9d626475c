// A table, and the formats in which it can be sent.
import { weightsIn } from '../responses/accept-weights.ts';

export interface TableColumn {
  readonly name: string;
  readonly description: string;
  /** In Parquet: an integer, or a timestamp from ISO 8601 text. By default text. */
  readonly type?: 'integer' | 'time';
}

export type Cell = string | number | boolean | null;
/** Cells in the order of the columns; null is an empty cell. */
export type Row = readonly Cell[];

/** Result of the handler of a `csv` or `rows` route. */
export interface Table {
  readonly filename: string;
  /** The names of the columns, if they are not all columns of the route. */
  readonly columns?: readonly string[];
  /** Names of further columns of text, which only this table has. */
  readonly extra?: readonly string[];
  readonly rows: Iterable<Row>;
  /** There are more rows than returned. */
  readonly isTruncated: boolean;
}

/** Writes a table as a file, a batch of rows at a time. */
export interface TableEncoder {
  readonly contentType: string;
  /** The bytes that further rows complete; may be empty. */
  rows(rows: readonly Row[]): Uint8Array;
  /** The remaining bytes of the file. */
  end(): Uint8Array;
}

/** Formats of files. */
export const FILE_FORMATS = ['csv', 'ndjson', 'parquet'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];
/** Formats of answers: in JSON the rows are part of a signed body. */
export const TABLE_FORMATS = ['json', ...FILE_FORMATS] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** The media types of Accept, by format. */
export const MEDIA_TYPES = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
} as const satisfies Record<TableFormat, string>;

/**
 * The types in Content-Type, which are signed together with the content and never vary. `header` is RFC 4180's parameter
 * for a header row.
 */
export const CONTENT_TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: MEDIA_TYPES.ndjson,
  parquet: MEDIA_TYPES.parquet,
} as const satisfies Record<FileFormat, string>;

/** The format that an Accept header prefers (RFC 9110, 12.5.1); JSON if it names none. */
export function formatFor(accept = ''): TableFormat {
  const wanted = [...weightsIn(accept)].filter(([, weight]) => weight > 0).sort((a, b) => b[1] - a[1]);
  const formats = wanted.flatMap(([type]) => TABLE_FORMATS.filter((format) => MEDIA_TYPES[format] === type));
  return formats[0] ?? 'json';
}

/** A row as an object, with its cells by column. */
export const rowObject = (columns: readonly string[], row: Row): Record<string, Cell> =>
  Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null]));

/** `attachment` with a file name that is valid on every system (RFC 6266). */
export function contentDisposition(filename: string): string {
  const safe = filename.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 120);
  return `attachment; filename="${safe}"`;
}
