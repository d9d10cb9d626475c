// The usual columns of a table: sortable numbers and texts, and those that a phone hides.
import type { ReactNode } from 'react';
import { formatNumber } from '../formats.ts';
import type { Column } from './data-table.tsx';

/** The fields of a row with values of a type. */
type KeyOf<Row, V> = { [K in keyof Row]-?: Row[K] extends V ? K : never }[keyof Row];

/** A column of numbers, or of shares and the like with another format; `show` may also link them. */
export function numberColumn<Row>(
  name: string,
  value: KeyOf<Row, number | null> | ((row: Row) => number | null),
  show: (value: number | null, row: Row) => ReactNode = formatNumber,
): Column<Row> {
  // The type of `value` selects fields with numbers.
  const of = typeof value === 'function' ? value : (row: Row) => row[value] as number | null;
  return { name, isNumber: true, value: of, cell: (row) => show(of(row), row) };
}

/** A column that a phone hides until all are requested. */
export const minor = <Row>(column: Column<Row>): Column<Row> => ({ ...column, isMinor: true });

/** A column of texts, or of links, names and times. */
export function textColumn<Row, K extends KeyOf<Row, string | null>>(
  name: string,
  key: K,
  show: (value: Row[K], row: Row) => ReactNode = (value) => String(value ?? '–'),
): Column<Row> {
  // The type of `key` selects fields with texts.
  return { name, value: (row) => row[key] as string | null, cell: (row) => show(row[key], row) };
}
