// Tables as CSV: RFC 4180, UTF-8, CRLF, a header row, and no cell that a spreadsheet would evaluate as a formula.
import { stringify } from 'csv-stringify/sync';
import type { Row, Table } from './table.ts';

/** The table, by default with a header row. */
export function csvBytes(columns: readonly string[], { rows }: Pick<Table, 'rows'>, { hasHeader = true } = {}): Buffer {
  const text = stringify(
    Array.from(rows, (row: Row) => row.map(plainCell)),
    {
      header: hasHeader,
      columns: [...columns],
      record_delimiter: 'windows',
      // A lone CR or LF must be quoted too (RFC 4180, 2).
      quoted_match: /[\r\n]/,
      // Numbers are not text: -5 stays -5.
      escape_formulas: true,
    },
  );
  return Buffer.from(text, 'utf8');
}

/** A negative integer as text, such as a favicon hash, is not a formula either. */
function plainCell(cell: Row[number]): Row[number] {
  if (typeof cell === 'boolean') return String(cell);
  return typeof cell === 'string' && /^-[1-9]\d{0,9}$/.test(cell) ? Number(cell) : cell;
}
