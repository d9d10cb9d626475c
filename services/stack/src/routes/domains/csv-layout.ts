// How the rows of an uploaded CSV are read: which column has the names, and what the other columns are called.
import { nameColumn } from '@strata/detect';
import { refuseField } from '../parameters.ts';
import { type GivenName, LOOKUP_COLUMNS } from './lookup-rows.ts';

/** How CSV is parsed. */
export const CSV_OPTIONS = { bom: true, relaxColumnCount: true, skipEmptyLines: true, trim: true } as const;

/** Wider files are refused: each row is returned with all columns. */
const MAX_COLUMNS = 100;
const MAX_HEADER = 100;

export interface CsvLayout {
  /** Whether the first row is a header. */
  readonly isHeader: boolean;
  /** Names of the other columns, in any case unique and different from those of the answer: readers of Parquet ignore case. */
  readonly extra: readonly string[];
  readonly nameIn: (row: readonly string[]) => GivenName;
}

/** By the first two rows. Refuses a first one that is too wide. */
export function csvLayout(head: readonly (readonly string[])[]): CsvLayout {
  const [first = []] = head;
  if (first.length > MAX_COLUMNS) refuseField('body', `has more than ${MAX_COLUMNS} columns`);
  const { column: at, hasHeader: isHeader } = nameColumn(head);
  const taken = new Set<string>(LOOKUP_COLUMNS.map(({ name }) => name));
  const nameOf = (header: string, i: number) => {
    let name = (isHeader ? header.slice(0, MAX_HEADER) : '') || `column_${i + 1}`;
    while (taken.has(name.toLowerCase())) name = `given_${name}`;
    taken.add(name.toLowerCase());
    return name;
  };
  const positions = [...first.keys()].filter((i) => i !== at);
  return {
    isHeader,
    extra: positions.map((i) => nameOf(first[i] ?? '', i)),
    nameIn: (row) => ({ text: row[at] ?? '', extra: positions.map((i) => row[i] ?? '') }),
  };
}
