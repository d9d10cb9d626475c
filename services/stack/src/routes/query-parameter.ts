// Queries in requests: a refusal has the position of the problem.
import {
  type FacetCounts,
  MAX_FACET_VALUES,
  MAX_QUERY,
  type Query,
  QueryError,
  type Selection,
} from '@strata/analytics';
import { CATEGORIES } from '@strata/detect';
import { type CachePolicy, refuse } from '@strata/http';
import { z } from 'zod';
import type { StackApp, TableApp } from '../context.ts';
import { domainQuery } from '../index/domain-queries.ts';
import { MAX_STALE_MS, tags } from '../index/live-index.ts';

export const QueryText = z
  .string()
  .max(MAX_QUERY, `has more than ${MAX_QUERY} characters`)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .describe('Conditions in the query language (docs/query-language.md): `email:google-workspace AND dmarc:none`.');

/** For a list that can be restricted to the domains of a query. */
export const queryParameter = { query: QueryText.optional() };

/** The query as data; an invalid text is refused with the position of the problem. */
export function queryIn(app: TableApp, text: string, field = 'query'): Query {
  try {
    return domainQuery(app, text);
  } catch (error) {
    return queryRefused(error, { field, text });
  }
}

/** Refuses a request whose query has an error; throws any other error. */
export function queryRefused(
  error: unknown,
  { field, text }: { readonly field: string; readonly text: string },
): never {
  if (!(error instanceof QueryError)) throw error;
  // The message may quote half of a surrogate pair.
  const message = error.message.toWellFormed();
  const position = Array.from(text.slice(0, error.position)).length + 1;
  const detail = `Cannot use: ${field}, from character ${position}.`;
  return refuse('invalid_parameter', detail, { errors: [{ field, message, position }] });
}

/** The domains to which an aggregate is restricted; undefined for all. A route that calls it declares `unavailable`. */
export function selectionOf(
  app: TableApp,
  { query }: { readonly query?: string | undefined },
  field = 'query',
): Selection | undefined {
  return query === undefined ? undefined : { text: query, query: queryIn(app, query, field) };
}

/** Seconds of computing time are not spent for each change of a domain. */
export const POPULATION_MAX_STALE_MS = 10_000;

/** How an aggregate of all domains, or of those of a query, is cached. */
export function populationCache(
  { query }: { readonly query?: string | undefined },
  policy: Omit<CachePolicy, 'maxStaleMs'>,
): CachePolicy {
  if (query === undefined) return { ...policy, maxStaleMs: MAX_STALE_MS };
  const { key, tags: stale } = policy;
  // The age of a scan changes without an event.
  const maxAgeMs = 60_000;
  return { key: `${key} ${query}`, tags: [...stale, ...tags.domains], maxAgeMs, maxStaleMs: POPULATION_MAX_STALE_MS };
}

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

export function facetReport(
  { facet, values }: FacetCounts,
  names: Pick<StackApp['names'], 'nameOf'>,
): z.input<typeof FacetSchema> {
  const isProvider = facet === 'provider' || CATEGORIES.some((category) => category === facet);
  const shown = values.map(({ value, count }) => ({
    value,
    name: isProvider ? names.nameOf(value) : value,
    domains: count,
    query: `${facet}:${value}`,
  }));
  return { facet, values: shown };
}
