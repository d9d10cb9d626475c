// The orders of lists of domains: their parameter, the rows of a page, and the keys of its cursors.
import {
  allDomains,
  type DomainOrder,
  type DomainSet,
  inNameOrder,
  inOrder,
  type OrderKey,
  orderValue,
} from '@strata/analytics';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
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

const orderOf = (sort: Exclude<Sort, 'name'>) => ({
  by: sort.replace('-', '') as DomainOrder['by'],
  isDescending: sort.startsWith('-'),
});

/** A page of the domains of a set, by default of all. Refuses a large offset in another order than by name. */
export function domainsInOrder(
  { index }: Pick<StackApp, 'index'>,
  set: DomainSet | undefined,
  sort: Sort,
  { limit, offset, after }: PageQuery<OrderKey>,
): number[] {
  const all = set ?? allDomains(index);
  if (sort === 'name') return inNameOrder(index, all, { limit, offset, ...(after && { after: after[1] }) });
  if (offset > MAX_OFFSET)
    refuseField('offset', `must be at most ${MAX_OFFSET} with sort=${sort}; continue with next_cursor`);
  const page = { limit: limit + offset, ...(after && { after }) };
  return inOrder(index, all, orderOf(sort), page).slice(offset);
}

export function orderKeyOf({ index }: Pick<StackApp, 'index'>, domain: number, sort: Sort): OrderKey {
  return [sort === 'name' ? null : orderValue(index, domain, orderOf(sort).by), index.names.name(domain)];
}
