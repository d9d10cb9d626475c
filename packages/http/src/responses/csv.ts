// Tables as NDJSON and as CSV: RFC 4180, UTF-8, CRLF, a header row, and no cell that a spreadsheet would evaluate as a formula.
import { stringify } from 'csv-stringify/sync';
import { weightsIn } from './accept-weights.ts';

/** Signed together with the content, so it never varies. `header` is RFC 4180's parameter for a header row. */
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export interface CsvColumn {
  readonly name: string;
  readonly description: string;
}

type Cell = string | number | boolean | null;

/** Result of the handler of a `csv` or `rows` route. Cells are in the order of the columns; null is an empty cell. */
export interface Table {
  readonly filename: string;
  /** The names of the columns, if they are not all columns of the route. */
  readonly columns?: readonly string[];
  readonly rows: Iterable<readonly Cell[]>;
  /** There are more rows than returned. */
  readonly isTruncated: boolean;
}

export const TABLE_FORMATS = ['json', 'csv', 'ndjson'] as const;
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** The media types of Accept, by format. */
const MEDIA_TYPES = { json: 'application/json', csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;

/** The format that an Accept header prefers (RFC 9110, 12.5.1); JSON if it names none. */
export function formatFor(accept = ''): TableFormat {
  const wanted = [...weightsIn(accept)].filter(([, weight]) => weight > 0).sort((a, b) => b[1] - a[1]);
  const formats = wanted.flatMap(([type]) => TABLE_FORMATS.filter((format) => MEDIA_TYPES[format] === type));
  return formats[0] ?? 'json';
}

/** Each row as an object, with its cells by column. */
export const rowObjects = (columns: readonly string[], { rows }: Table): Record<string, Cell>[] =>
  Array.from(rows, (row) => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])));

/**
 * The complete table with its content type: its receipt is in the headers and must be known before the first byte is
 * sent. The contract limits the rows.
 */
export function tableBytes(format: 'csv' | 'ndjson', columns: readonly string[], table: Table) {
  if (format === 'csv') return { bytes: csvBytes(columns, table), contentType: CSV_TYPE };
  const lines = rowObjects(columns, table).map((row) => `${JSON.stringify(row)}\n`);
  return { bytes: Buffer.from(lines.join(''), 'utf8'), contentType: MEDIA_TYPES.ndjson };
}

/** The table, by default with a header row. */
export function csvBytes(columns: readonly string[], { rows }: Pick<Table, 'rows'>, { hasHeader = true } = {}): Buffer {
  const text = stringify(
    [...rows].map((row) => row.map((cell) => (typeof cell === 'boolean' ? String(cell) : cell))),
    {
      header: hasHeader,
      columns: [...columns],
      record_delimiter: 'windows',
      // A lone CR must be quoted too (RFC 4180, 2).
      quoted_match: /\r/,
      // Numbers are not text: -5 stays -5.
      escape_formulas: true,
    },
  );
  return Buffer.from(text, 'utf8');
}

/** `attachment` with a file name that is valid on every system (RFC 6266). */
export function contentDisposition(filename: string): string {
  const safe = filename.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 120);
  return `attachment; filename="${safe}"`;
}
