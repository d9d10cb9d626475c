// CSV tables: RFC 4180, UTF-8, CRLF, a header row, and no cell that a spreadsheet would evaluate as a formula.
import { stringify } from 'csv-stringify/sync';

/** Signed together with the content, so it never varies. `header` is RFC 4180's parameter for a header row. */
export const CSV_TYPE = 'text/csv; charset=utf-8; header=present';

export interface CsvColumn {
  readonly name: string;
  readonly description: string;
}

/** Result of a `csv` route's handler. Cells are in the order of the route's columns; null is an empty cell. */
export interface Csv {
  readonly filename: string;
  readonly rows: Iterable<readonly (string | number | boolean | null)[]>;
  /** There are more rows than returned. */
  readonly isTruncated: boolean;
}

/**
 * The complete table: its receipt is in the headers and must be known before the first byte is sent. The contract
 * limits the rows.
 */
export function csvBytes(columns: readonly CsvColumn[], { rows }: Csv): Buffer {
  const text = stringify(
    [...rows].map((row) => row.map((cell) => (typeof cell === 'boolean' ? String(cell) : cell))),
    {
      header: true,
      columns: columns.map(({ name }) => name),
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
