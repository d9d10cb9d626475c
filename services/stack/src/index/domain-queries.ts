// The query language on the index of this service: reads the names of providers and times, and evaluates.
import {
  type DomainIndex,
  DomainSet,
  evaluateQuery,
  type Query,
  QueryError,
  type QueryNames,
  readQuery,
} from '@strata/analytics';
import { countedCache } from '@strata/http';
import { nearestName } from '@strata/http/nearest-names';
import type { StackApp } from '../context.ts';
import { microsecondsOf } from '../moments.ts';
import { findProvider, nearestProviders } from './provider-names.ts';

type Known = Pick<StackApp, 'index' | 'rulebook' | 'clock'>;

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

interface AmongDomains {
  readonly among?: readonly string[];
  /** By default of all domains. */
  readonly index?: DomainIndex;
}

/** The domains of an index that match a query, or those of the named domains; at most `max` of them. Throws QueryError. */
export type NamesMatching = (query: string, max: number, options?: AmongDomains) => string[];

export function namesMatching(app: Known): NamesMatching {
  const read = countedCache<Query>(MAX_READ, { ttl: READ_FOR_MS });
  return (text, max, { among, index = app.index } = {}) => {
    const query = read.get(text) ?? domainQuery(app, text);
    read.set(text, query, { noUpdateTTL: true });
    const numbers = among?.map((name) => index.names.sorted.find(name)).filter((number) => number !== undefined);
    const found = evaluateQuery(index, query, numbers && DomainSet.of(numbers.sort((a, b) => a - b)));
    return found.first(max).map((number) => index.names.name(number));
  };
}

function namesOf({ index, rulebook, clock }: Known): Omit<QueryNames, 'segment'> {
  const now = clock().getTime();
  return {
    providerId: (text) => findProvider(text, { index, rulebook })?.id,
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
