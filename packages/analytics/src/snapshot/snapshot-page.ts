// A page of domains in a snapshot: its names and columns, cut at the last number in use.
import { CodedColumn } from '../columns/coded-column.ts';
import { CODED_COLUMNS, type CodedColumns, ColumnPage, TIME_COLUMNS } from '../columns/column-page.ts';
import { PackedRows, type RowEnds, type RowValues } from '../columns/packed-rows.ts';
import { PAGE_SIZE } from '../columns/pages.ts';
import type { Column } from './snapshot-chunk.ts';

export type PageColumns = Readonly<Record<string, Column>> & {
  readonly nameBytes: RowValues;
  readonly nameEnds: RowEnds;
  readonly pool: RowValues;
  readonly ends: RowEnds;
};

const NO_COLUMN = new Float64Array(0);

/** Views that are valid until the next change of the page. */
export function columnsOfPage(names: PackedRows, page: ColumnPage, rows: number): PageColumns {
  const [ofNames, ofServices] = [names.arrays(rows), page.services.arrays(rows)];
  const coded = CODED_COLUMNS.flatMap((name) => [
    [name, page[name].codes] as const,
    [`${name}Values`, page[name].values] as const,
  ]);
  return {
    ...Object.fromEntries([...TIME_COLUMNS.map((name) => [name, page[name].subarray(0, rows)] as const), ...coded]),
    nameBytes: ofNames.values,
    nameEnds: ofNames.ends,
    pool: ofServices.values,
    ends: ofServices.ends,
  };
}

/** Takes ownership of the arrays. */
export function pageOfColumns(columns: PageColumns): { readonly names: PackedRows; readonly page: ColumnPage } {
  const { nameBytes, nameEnds, pool, ends } = columns;
  const page = new ColumnPage(new PackedRows(pool, ofFullPage(ends), ends.length), undefined, codedOf(columns));
  for (const name of TIME_COLUMNS) page[name].set(columns[name] as Uint32Array);
  return { names: new PackedRows(nameBytes, ofFullPage(nameEnds), nameEnds.length), page };
}

/** Those that are missing are not sound, as those with a code without a value. */
export function codedOf(columns: PageColumns): CodedColumns {
  const coded = CODED_COLUMNS.map((name) => {
    const [codes = NO_COLUMN, values = NO_COLUMN] = [columns[name], columns[`${name}Values`]];
    // Of another type they are not sound.
    return [name, new CodedColumn(codes as Uint8Array<ArrayBuffer>, values as Uint32Array<ArrayBuffer>)] as const;
  });
  return Object.fromEntries(coded) as CodedColumns;
}

function ofFullPage(ends: RowEnds): RowEnds {
  if (ends.length === PAGE_SIZE) return ends;
  const all = ends instanceof Uint16Array ? new Uint16Array(PAGE_SIZE) : new Uint32Array(PAGE_SIZE);
  all.set(ends);
  return all;
}
