// Pages of lists: `limit`, and an opaque `cursor` that continues after the last row of the previous page. A cursor has the sort
// key of that row: rows that are added or removed between two pages neither repeat nor hide a row.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { Limit, Offset, refuseField } from './parameters.ts';

/** The longest key has two names of domains and some numbers. */
const Cursor = z
  .string()
  .min(1, 'must not be empty')
  .max(1_024)
  .describe('`next_cursor` of the previous page, with the same filters; `limit` may differ.');

/** Query parameters of a list. */
export const pageParameters = (limit: number) => ({ limit: Limit.default(limit), cursor: Cursor.optional() });

/** The same, and `offset`, which cannot be combined with a cursor. */
export const offsetParameters = (limit: number) => ({ ...pageParameters(limit), offset: Offset.default(0) });

/** Fields of an answer with a list. */
export const pageFields = {
  limit: z.int(),
  offset: z.int().describe('Number of entries before this page.'),
  next_cursor: z.string().nullable().describe('`cursor` of the next page; null at the end of the list.'),
};

/** The key of a change: its time in the order of the list, and its id. */
export const changeKeyShape = [z.int(), z.string().regex(/^ch_\d{10,16}$/)] as const;
export const DomainName = z.string().regex(/^[a-z0-9._-]{1,253}$/);
/** Domains in the order of their names. */
export const DOMAINS = { name: 'domains', key: DomainName };

interface PageInput {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly offset?: number;
}

/** What a store or an index reads for a page. */
export interface PageQuery<Key> {
  /** One more than the page has: the additional row shows whether there is a next page. */
  readonly limit: number;
  readonly offset: number;
  /** Only rows after the one with this sort key. */
  readonly after?: Key;
}

export interface ListPage<Key> {
  readonly query: PageQuery<Key>;
  /** The cursor after a page with this number of rows, whose last row has this key. */
  cursor(key: Key, rows: number): string;
  /** The rows of the page, and the fields of the answer. */
  cut<Row>(
    found: readonly Row[],
    keyOf: (row: Row) => Key,
  ): { readonly rows: readonly Row[]; readonly fields: { limit: number; offset: number; next_cursor: string | null } };
}

/** The page that a request asks for. Refuses a cursor that is damaged, or of another list or filter. */
export function pageOf<Key>(
  { limit, cursor, offset = 0 }: PageInput,
  list: { readonly name: string; readonly key: z.ZodType<Key> },
  filter: unknown = null,
): ListPage<Key> {
  // An unkeyed hash: a forged cursor can only continue at another row.
  const checksum = (content: unknown) =>
    createHash('sha256')
      .update(JSON.stringify([list.name, filter, content]))
      .digest('base64url')
      .slice(0, 10);
  const start = cursor === undefined ? undefined : read(cursor);
  const position = start?.position ?? offset;

  function read(text: string): { readonly position: number; readonly after: Key } {
    if (offset > 0) return refuseField('cursor', 'cannot be combined with offset');
    try {
      const content = z
        .tuple([z.string(), z.int().min(0), list.key])
        .parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
      const [sum, at, after] = content;
      if (sum === checksum([at, after])) return { position: at, after: after as Key };
    } catch {
      // Not a cursor at all.
    }
    return refuseField('cursor', 'is not a next_cursor of this list with these filters');
  }

  function cursorAfter(key: Key, rows: number): string {
    const next = [position + rows, key] as const;
    return Buffer.from(JSON.stringify([checksum(next), ...next])).toString('base64url');
  }

  return {
    cursor: cursorAfter,
    query: { limit: limit + 1, offset: start ? 0 : offset, ...(start && { after: start.after }) },
    cut(found, keyOf) {
      const rows = found.slice(0, limit);
      const last = rows.at(-1);
      const hasMore = last !== undefined && found.length > limit;
      const next_cursor = hasMore ? cursorAfter(keyOf(last), rows.length) : null;
      return { rows, fields: { limit, offset: position, next_cursor } };
    },
  };
}
