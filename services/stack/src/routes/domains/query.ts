// Domains that match a query, in any order, with facets.
import { FACETS } from '@strata/analytics';
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { pageFields, pageOf } from '../paging.ts';
import { Choice } from '../parameters.ts';
import { FacetSchema, facetReport, QueryText, queryIn } from '../query-parameter.ts';
import { OrderKeySchema, orderKeyOf, SORT_MEANING, SORTS, sortedPage } from './domain-order.ts';
import { FoundDomainSchema, foundDomain } from './search.ts';

const LIST = { name: 'query', key: OrderKeySchema };

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
        sort: Choice(SORTS).describe(SORT_MEANING).default('name'),
        facets: z
          .array(Choice(FACETS))
          .max(FACETS.length)
          .describe('Counts of all results by these values.')
          .default([]),
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
    const filter = { query: queryIn(app, query) };
    const found = await app.analytics.search({ filter, facets: [...new Set(facets)], ...sortedPage(sort, page.query) });
    const { rows, fields } = page.cut(found.domains, (row) => orderKeyOf(row, sort));
    return {
      total: found.total,
      ...fields,
      results: rows.map((row) => foundDomain(row, app.names)),
      facets: found.facets.map((each) => facetReport(each, app.names)),
    };
  },
);
