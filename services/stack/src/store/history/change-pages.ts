// Pages of lists of changes, newest first.
import type { SelectQueryBuilder } from 'kysely';
import type { Database } from '../schema.ts';

/** The time that orders a list, and the id of the change. */
export type ChangeKey = readonly [time: number, id: string, ...more: unknown[]];

export interface Page {
  readonly limit: number;
  readonly offset: number;
  /** Only changes after this one in the order of the list, however many were recorded since. */
  readonly after?: ChangeKey;
}

export type ChangeQuery<Row = object> = SelectQueryBuilder<Database, 'changes', Row>;
/** The time that orders a list: of the change, or of its confirmation. */
export type Order = 'at' | 'confirmed_at';

/** A total order, so that pages from `after` neither skip nor repeat. */
export function newest<Row>(query: ChangeQuery<Row>, order: Order, { limit, offset, after }: Page): ChangeQuery<Row> {
  return ordered(after ? past(query, order, after) : query, order)
    .limit(limit)
    .offset(offset);
}

export function ordered<Row>(query: ChangeQuery<Row>, order: Order): ChangeQuery<Row> {
  return query.orderBy(`changes.${order}`, 'desc').orderBy('changes.id', 'desc');
}

/** The first condition bounds the range of the index. */
function past<Row>(query: ChangeQuery<Row>, order: Order, [time, id]: ChangeKey): ChangeQuery<Row> {
  const number = Number(id.slice('ch_'.length));
  return query
    .where(`changes.${order}`, '<=', time)
    .where((is) => is.or([is(`changes.${order}`, '<', time), is('changes.id', '<', number)]));
}
