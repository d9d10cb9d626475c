// The usual columns of a table: sortable numbers and texts.
import type { ReactNode } from 'react';
import { formatNumber } from '../formats.ts';
import type { Column } from './data-table.tsx';

/** A column of numbers, or of shares and the like with another format; `show` may also link them. */
export function numberColumn<Row>(
  name: string,
  value: (row: Row) => number | null,
  show: (value: number | null, row: Row) => ReactNode = formatNumber,
): Column<Row> {
  return { name, isNumber: true, value, cell: (row) => show(value(row), row) };
}

/** A column of texts, or of names and times with another format. */
export function textColumn<Row, V extends string>(
  name: string,
  value: (row: Row) => V,
  show: (value: V, row: Row) => ReactNode = String,
): Column<Row> {
  return { name, value, cell: (row) => show(value(row), row) };
}
