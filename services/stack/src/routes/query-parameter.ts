// Queries in requests: a refusal has the position of the problem.
import {
  allDomains,
  type DomainSet,
  evaluateQuery,
  type Facet,
  facetOf,
  MAX_QUERY,
  type Query,
  QueryError,
} from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { refuse } from '@strata/http';
import { z } from 'zod';
import type { StackApp, TableApp } from '../context.ts';
import { domainQuery } from '../index/domain-queries.ts';

export const QueryText = z
  .string()
  .max(MAX_QUERY, `has more than ${MAX_QUERY} characters`)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .describe('Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.');

/** For a list that can be restricted to the domains of a query. */
export const queryParameter = { query: QueryText.optional() };

/** The query as data; an invalid text is refused with the position of the problem. */
export function queryIn(app: TableApp, text: string): Query {
  try {
    return domainQuery(app, text);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    // The message may quote half of a surrogate pair.
    const message = error.message.toWellFormed();
    const position = Array.from(text.slice(0, error.position)).length + 1;
    const detail = `Cannot use: query, from character ${position}.`;
    return refuse('invalid_parameter', detail, { errors: [{ field: 'query', message, position }] });
  }
}

/** The domains to which a request is restricted; undefined for all. */
export function setOf(app: StackApp, { query }: { readonly query?: string | undefined }): DomainSet | undefined {
  return query === undefined ? undefined : evaluateQuery(app.index, queryIn(app, query));
}

/** Values of a facet in an answer. */
export const MAX_FACET_VALUES = 20;

export const FacetSchema = z
  .object({
    facet: z.string(),
    values: z
      .array(
        z.object({
          value: z.string().describe('Of a provider its id.'),
          name: z.string(),
          domains: z.int().min(0),
          query: z.string().describe('The condition of the query language for this value.'),
        }),
      )
      .describe(`Most domains first, at most ${MAX_FACET_VALUES}.`),
  })
  .meta({ id: 'Facet' });

/** Counts of the domains of a set; other requests get a turn between two facets. */
export async function facetsOf(
  { index, names }: Pick<StackApp, 'index' | 'names'>,
  set: DomainSet | undefined,
  facets: readonly Facet[],
): Promise<z.input<typeof FacetSchema>[]> {
  const of: z.input<typeof FacetSchema>[] = [];
  for (const facet of new Set(facets)) {
    await new Promise(setImmediate);
    const isProvider = facet === 'provider' || CATEGORIES.some((category) => category === facet);
    const values = facetOf(index, set ?? allDomains(index), facet, MAX_FACET_VALUES).map(({ value, count }) => ({
      value,
      name: isProvider ? names.nameOf(value) : value,
      domains: count,
      query: `${facet}:${value}`,
    }));
    of.push({ facet, values });
  }
  return of;
}
