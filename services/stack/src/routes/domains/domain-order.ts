// The orders of lists of domains: their parameter, the rows of a page, and the keys of its cursors.
import type { DomainOrder, DomainRow, OrderKey } from '@strata/analytics';
import { z } from 'zod';
import { DomainName, type PageQuery } from '../paging.ts';
import { refuseField } from '../parameters.ts';

export const SORTS = [
  ...(['name', 'score', '-score', 'scanned_at', '-scanned_at'] as const),
  ...(['first_seen', '-first_seen', 'changed_at', '-changed_at'] as const),
] as const;
export type Sort = (typeof SORTS)[number];

export const SORT_MEANING =
  '`-` is descending. Domains without the value come last; equal ones are in the order of names.';

/** In an order by name the value is null. */
export const OrderKeySchema = z.tuple([z.number().nullable(), DomainName]).readonly();

/** Rows before a page that are sorted with it: pages behind them are read by cursor. */
const MAX_OFFSET = 10_000;

/** Undefined: in the order of names. */
function orderOf(sort: Sort): DomainOrder | undefined {
  if (sort === 'name') return undefined;
  return { by: sort.replace('-', '') as DomainOrder['by'], isDescending: sort.startsWith('-') };
}

/** The order and the page of a search. Refuses a large offset in another order than by name. */
export function sortedPage(sort: Sort, page: PageQuery<OrderKey>) {
  if (sort !== 'name' && page.offset > MAX_OFFSET)
    refuseField('offset', `must be at most ${MAX_OFFSET} with sort=${sort}; continue with next_cursor`);
  return { ...page, order: orderOf(sort) };
}

export function orderKeyOf(row: DomainRow, sort: Sort): OrderKey {
  const values = { score: row.score, scanned_at: row.scannedAt, first_seen: row.firstSeen, changed_at: row.changedAt };
  const by = orderOf(sort)?.by;
  if (by === undefined) return [null, row.name];
  return [by === 'score' ? row.score : values[by] || null, row.name];
}
