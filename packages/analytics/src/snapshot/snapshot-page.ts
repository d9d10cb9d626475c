// A page of domains in a snapshot: its names and columns, cut at the last number in use.
import { ColumnPage } from '../columns/column-page.ts';
import { PackedRows, type RowEnds, type RowValues } from '../columns/packed-rows.ts';
import { PAGE_SIZE } from '../columns/pages.ts';
import type { Column } from './snapshot-chunk.ts';

export const FACT_COLUMNS = [
  'scannedLow',
  'scannedHigh',
  'firstSeen',
  'changedAt',
  'state',
  'sector',
  'score',
  'posture',
  'holders',
  'country',
  'buildCounts',
] as const;

export type PageColumns = Record<(typeof FACT_COLUMNS)[number], Column> & {
  readonly nameBytes: RowValues;
  readonly nameEnds: RowEnds;
  readonly pool: RowValues;
  readonly ends: RowEnds;
};

/** Views that are valid until the next change of the page. */
export function columnsOfPage(names: PackedRows, page: ColumnPage, rows: number): PageColumns {
  const [ofNames, ofServices] = [names.arrays(rows), page.services.arrays(rows)];
  const facts = Object.fromEntries(FACT_COLUMNS.map((name) => [name, page[name].subarray(0, rows)]));
  return {
    ...(facts as Record<(typeof FACT_COLUMNS)[number], Column>),
    nameBytes: ofNames.values,
    nameEnds: ofNames.ends,
    pool: ofServices.values,
    ends: ofServices.ends,
  };
}

/** Takes ownership of the arrays. */
export function pageOfColumns(columns: PageColumns): { readonly names: PackedRows; readonly page: ColumnPage } {
  const { nameBytes, nameEnds, pool, ends } = columns;
  const page = new ColumnPage(undefined, new PackedRows(pool, ofFullPage(ends), ends.length));
  for (const name of FACT_COLUMNS) page[name].set(columns[name]);
  return { names: new PackedRows(nameBytes, ofFullPage(nameEnds), nameEnds.length), page };
}

function ofFullPage(ends: RowEnds): RowEnds {
  if (ends.length === PAGE_SIZE) return ends;
  const all = ends instanceof Uint16Array ? new Uint16Array(PAGE_SIZE) : new Uint32Array(PAGE_SIZE);
  all.set(ends);
  return all;
}
