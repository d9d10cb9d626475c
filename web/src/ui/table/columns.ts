// The usual columns of a table: sortable numbers and texts.
import { formatNumber } from '../formats.ts';
import type { Column } from './data-table.tsx';

/** A column of numbers, or of shares and the like with another format. */
export function numberColumn<Row>(
  name: string,
  value: (row: Row) => number | null,
  format: (value: number | null) => string = formatNumber,
): Column<Row> {
  return { name, isNumber: true, value, cell: (row) => format(value(row)) };
}

/** A column of texts, or of names and times with another format. */
export function textColumn<Row>(
  name: string,
  value: (row: Row) => string,
  format: (value: string) => string = String,
): Column<Row> {
  return { name, value, cell: (row) => format(value(row)) };
}
