// Domains that match a query, in any order, with facets.
import {
  type DomainOrder,
  type DomainSet,
  evaluateQuery,
  FACETS,
  inNameOrder,
  inOrder,
  type OrderKey,
  orderValue,
} from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { DomainName, pageFields, pageOf } from '../paging.ts';
import { unknownWord } from '../parameters.ts';
import { FacetSchema, facetsOf, QueryText, queryIn } from '../query-parameter.ts';
import { FoundDomainSchema, foundDomain } from './search.ts';

const SORTS = [
  ...(['name', 'score', '-score', 'scanned_at', '-scanned_at'] as const),
  ...(['first_seen', '-first_seen', 'changed_at', '-changed_at'] as const),
] as const;
type Sort = (typeof SORTS)[number];

/** In an order by name the value is null. */
const LIST = { name: 'query', key: z.tuple([z.number().nullable(), DomainName]).readonly() };

const Word = <const Words extends readonly [string, ...string[]]>(words: Words) =>
  z.enum(words, { error: ({ input }) => unknownWord(String(input).slice(0, 64), words) });

export const postQuery = route(
  {
    method: 'POST',
    path: '/stack/v1/query',
    tag: 'Search',
    summary: 'Domains that match a query, with facets',
    description:
      'The query language is described in docs/query-language.md. A problem of the query has `position`, the number of the character at which it begins.',
    bodies: {
      'application/json': z.strictObject({
        query: QueryText,
        sort: Word(SORTS)
          .describe('`-` is descending. Domains without the value come last; equal ones are in the order of names.')
          .default('name'),
        facets: z.array(Word(FACETS)).max(FACETS.length).describe('Counts of all results by these values.').default([]),
        limit: z.int().min(1).max(1_000).default(50),
        cursor: z.string().min(1).max(1_024).describe('`next_cursor` of the previous page.').optional(),
      }),
    },
    output: {
      kind: 'signed',
      schema: z.object({
        total: z.int().min(0),
        ...pageFields,
        results: z.array(FoundDomainSchema),
        facets: z.array(FacetSchema).describe('In the order requested.'),
      }),
    },
    errors: ['payload_too_large', 'unsupported_media_type'],
  },
  async (app: StackApp, { body }) => {
    const { query, sort, facets } = body;
    const page = pageOf(body, LIST, [query, sort]);
    const set = evaluateQuery(app.index, queryIn(app, query));
    const found = sorted(app, set, sort, page.query);
    const { rows, fields } = page.cut(found, (domain) => keyOf(app, domain, sort));
    const results = rows.map((domain) => foundDomain(app, domain));
    return { total: set.size, ...fields, results, facets: await facetsOf(app, set, facets) };
  },
);

const orderOf = (sort: Exclude<Sort, 'name'>) => ({
  by: sort.replace('-', '') as DomainOrder['by'],
  isDescending: sort.startsWith('-'),
});

function sorted({ index }: StackApp, set: DomainSet, sort: Sort, page: { limit: number; after?: OrderKey }): number[] {
  if (sort !== 'name') return inOrder(index, set, orderOf(sort), page);
  return inNameOrder(index, set, { limit: page.limit, offset: 0, ...(page.after && { after: page.after[1] }) });
}

function keyOf({ index }: StackApp, domain: number, sort: Sort): OrderKey {
  return [sort === 'name' ? null : orderValue(index, domain, orderOf(sort).by), index.names.name(domain)];
}
