// The query language with the providers and the clock of this service, and the domains that match.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Analytics, listDomains, type Query, QueryError, type QueryNames, readQuery } from '@strata/analytics';
import { countedCache } from '@strata/http';
import { nearestName } from '@strata/http/nearest-names';
import type { StackApp } from '../context.ts';
import { microsecondsOf } from '../moments.ts';
import type { KnownDomains } from './known-domains.ts';
import { findProvider, nearestProviders } from './provider-names.ts';

interface Known extends Pick<StackApp, 'rulebook' | 'clock'> {
  readonly known: Pick<KnownDomains, 'usersOf'>;
}

/** A query as data. Throws QueryError. Ages are relative to now. The segments of a request are replaced before. */
export function domainQuery(app: Known, text: string, segment: QueryNames['segment'] = noSegments): Query {
  return readQuery(text, { ...namesOf(app), segment });
}

const noSegments = (_name: string, start: number) => {
  throw new QueryError('segments cannot be used here', start);
};

/** Queries that are kept as data, and for how long: ages in them are relative to the time when they are read. */
const MAX_READ = 1_000;
const READ_FOR_MS = 60_000;

/** Rows that are read before other work runs. */
const ROWS_AT_ONCE = 1_000;

/** Some names of domains that match a query, in order; at most `max`. Throws QueryError. */
export type NamesMatching = (
  query: string,
  max: number,
  options: {
    /** What is asked; it may have only some domains. */
    readonly analytics: Analytics;
    readonly among?: readonly string[];
  },
) => Promise<string[]>;

export function namesMatching(app: Known): NamesMatching {
  const read = countedCache<Query>(MAX_READ, { ttl: READ_FOR_MS });
  return async (text, max, { analytics, among }) => {
    const query = read.get(text) ?? domainQuery(app, text);
    read.set(text, query, { noUpdateTTL: true });
    const found: string[] = [];
    for await (const rows of listDomains(
      analytics,
      { query, ...(among && { among: { names: among } }) },
      ROWS_AT_ONCE,
    )) {
      found.push(...rows.map(({ name }) => name));
      if (found.length >= max) break;
      await yieldToEventLoop();
    }
    return found.slice(0, max);
  };
}

/** Names in one question. */
const NAMES_AT_ONCE = 5_000;

/** Those of these domains that match a query. */
export async function matchingAmong(
  analytics: Analytics,
  query: Query,
  names: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>();
  for (let from = 0; from < names.length; from += NAMES_AT_ONCE) {
    const among = { names: names.slice(from, from + NAMES_AT_ONCE) };
    const { domains } = await analytics.search({ filter: { query, among }, limit: NAMES_AT_ONCE, offset: 0 });
    for (const { name } of domains) found.add(name);
    await yieldToEventLoop();
  }
  return found;
}

function namesOf({ known, rulebook, clock }: Known): Omit<QueryNames, 'segment'> {
  const now = clock().getTime();
  return {
    providerId: (text) => findProvider(text, { known, rulebook })?.id,
    nearestProvider: (text) => nearestProviders(text, rulebook, 1)[0],
    nearest: nearestName,
    providersOfKind: (kind) =>
      [...rulebook.providers.values()].filter(({ kinds }) => kinds.includes(kind)).map(({ id }) => id),
    asciiPart,
    momentOf(text, isEnd) {
      const at = microsecondsOf(text, { now, isEnd });
      return at === undefined ? undefined : at / 1_000;
    },
  };
}

/** A part of a name as in the index: lower-case, with Unicode labels converted to A-labels if possible. */
export function asciiPart(text: string): string {
  const part = text.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII as a range
  if (/^[\u0000-\u007f]*$/.test(part)) return part;
  return URL.parse(`http://${part}`)?.hostname ?? part;
}
