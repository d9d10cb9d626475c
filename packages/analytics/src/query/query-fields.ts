// The fields of the query language: what each takes for a value, and the condition that this is.
import {
  CATEGORIES,
  type Category,
  type DomainState,
  gradeOf,
  KINDS,
  type Kind,
  POSTURE_FLAGS,
  type PostureFlag,
  ROLE_LIST,
  SECTORS,
} from '@strata/detect';
import { countryNumber, LEVELS, LIVE, MAX_SCORE, STATES, stateNumber } from '../columns/terms.ts';
import { POSTURE_VALUES } from './posture-values.ts';
import { type IndexedTerm, type Query, QueryError, type QueryNames, type QueryValue } from './query.ts';
import { scoresOf, timesOf, timesSince } from './query-ranges.ts';
import { versionCondition } from './query-versions.ts';

export interface Field {
  readonly name: string;
  read(value: QueryValue, names: QueryNames): Query;
}

type Read = Field['read'];

const scores = Array.from({ length: MAX_SCORE + 1 }, (_, score) => score);
const GRADES = [...new Set(scores.map((score) => gradeOf(score).toLowerCase()))].toReversed();

/** Every field by its name. */
export const QUERY_FIELDS: Readonly<Record<string, Read>> = {
  name: nameCondition,
  domain: (value, names) => ({ kind: 'name', part: namePart(plain(value), value, names), at: 'exact' }),
  tld: tldCondition,
  provider: (value, names) => providerCondition(value, names),
  ...Object.fromEntries(
    CATEGORIES.map((category): [string, Read] => [
      category,
      (value, names) => providerCondition(value, names, category),
    ]),
  ),
  category: oneOf('category', CATEGORIES),
  role: oneOf('role', ROLE_LIST),
  sector: oneOf('sector', SECTORS),
  state: (value, names) => {
    const words = valuesOf(value, [...STATES, 'live'], names);
    const states = words.flatMap((word) => (word === 'live' ? LIVE : [word as DomainState]));
    return terms('state', states.map(stateNumber));
  },
  confidence: oneOf('level', LEVELS),
  flag: oneOf('flag', POSTURE_FLAGS),
  ...Object.fromEntries(Object.keys(POSTURE_VALUES).map((field): [string, Read] => [field, postureOf(field)])),
  grade: (value, names) => {
    const matching = valuesOf(value, GRADES, names);
    return terms(
      'score',
      scores.filter((score) => matching.includes(gradeOf(score).toLowerCase())),
    );
  },
  score: (value) => {
    const [from, to] = scoresOf(value);
    return terms('score', scores.slice(from, to + 1));
  },
  segment: (value, names) => names.segment(plain(value), value.start),
  scanned: (value, names) => ({ kind: 'time', of: 'scanned_at', ...timesOf(value, names) }),
  first_seen: (value, names) => ({ kind: 'time', of: 'first_seen', ...timesOf(value, names) }),
  changed_since: changedSince,
  since: changedSince,
  version: versionCondition,
  kind: (value, names) => {
    const ids = valuesOf(value, KINDS, names).flatMap((kind) => names.providersOfKind(kind as Kind));
    return { kind: 'or', of: [...new Set(ids)].map((id): Query => ({ kind: 'provider', id, isPrefix: false })) };
  },
  country: (value, names) => {
    const code = countryIn(value);
    const tld = tldCondition({ ...value, text: code === 'gb' ? 'uk' : code }, names);
    return { kind: 'or', of: [tld, terms('country', [countryNumber(code)])] };
  },
  network_country: (value) => terms('country', [countryNumber(countryIn(value))]),
};

/** An ISO 3166 code, lower-case; `uk` is the only top-level domain that differs from its country. */
function countryIn(value: QueryValue): string {
  const code = plain(value).toLowerCase();
  if (!/^[a-z]{2}$/.test(code)) throw new QueryError('expected a country code of two letters', value.start);
  return code === 'uk' ? 'gb' : code;
}

/** The field of a term without one. */
export const BARE: Field = { name: 'name', read: nameCondition };

/** Fields that the index cannot answer, and where the data is. */
const UNANSWERABLE: Readonly<Record<string, string>> = {
  changed: 'write changed_since:2026-10-01; all changes are in GET /stack/v1/domains/{domain}/changes',
};

export function fieldOf(written: string, start: number, names: QueryNames): Field {
  const name = written.toLowerCase().replaceAll('-', '_');
  const read = Object.hasOwn(QUERY_FIELDS, name) ? QUERY_FIELDS[name] : undefined;
  if (read) return { name, read };
  const reason = Object.hasOwn(UNANSWERABLE, name) ? UNANSWERABLE[name] : undefined;
  if (reason !== undefined) throw new QueryError(`${name} cannot be queried: ${reason}`, start);
  const shown = written.slice(0, 64);
  throw new QueryError(`unknown field ${shown}`, start, names.nearest(name, Object.keys(QUERY_FIELDS)));
}

const terms = (of: IndexedTerm, numbers: readonly number[]): Query => ({ kind: 'terms', of, numbers });

/** One of a list of values, or with `*` all that begin alike. */
function oneOf(of: IndexedTerm, values: readonly string[]): Read {
  return (value, names) =>
    terms(
      of,
      valuesOf(value, values, names).map((each) => values.indexOf(each)),
    );
}

function valuesOf(value: QueryValue, values: readonly string[], names: QueryNames): readonly string[] {
  const { text, isPrefix } = withWildcard(value);
  const word = text.toLowerCase();
  const found = isPrefix ? values.filter((each) => each.startsWith(word)) : values.filter((each) => each === word);
  return found.length > 0 ? found : refuseValue(value, values, names);
}

/** Values that a message names. */
const MAX_KNOWN = 40;

function refuseValue(value: QueryValue, values: readonly string[], names: QueryNames): never {
  const near = names.nearest(value.text, values);
  const some = values.length > MAX_KNOWN ? [...values.slice(0, MAX_KNOWN), '…'] : values;
  const known = near === undefined ? `; known are ${some.join(', ')}` : '';
  throw new QueryError(`unknown value ${value.text.slice(0, 64)}${known}`, value.start, near);
}

function changedSince(value: QueryValue, names: QueryNames): Query {
  return { kind: 'time', of: 'changed_at', ...timesSince(value, names) };
}

function postureOf(field: string): Read {
  const values = POSTURE_VALUES[field] as Readonly<Record<string, readonly string[]>>;
  return (value, names) => {
    const word = plain(value).toLowerCase();
    const flags = Object.hasOwn(values, word) ? values[word] : undefined;
    return flags ? allOf(flags) : refuseValue(value, Object.keys(values), names);
  };
}

/** All flags are set; those after an exclamation mark are not. */
function allOf(flags: readonly string[]): Query {
  const of = flags.map((flag): Query => {
    const isSet = terms('flag', [POSTURE_FLAGS.indexOf(flag.replace('!', '') as PostureFlag)]);
    return flag.startsWith('!') ? { kind: 'not', of: isSet } : isSet;
  });
  return of.length === 1 ? (of[0] as Query) : { kind: 'and', of };
}

function providerCondition(value: QueryValue, names: QueryNames, category?: Category): Query {
  const { text, isPrefix } = withWildcard(value);
  const within = category === undefined ? {} : { category };
  if (isPrefix && text === '')
    return terms('category', category === undefined ? [...CATEGORIES.keys()] : [CATEGORIES.indexOf(category)]);
  if (isPrefix) return { kind: 'provider', id: text.toLowerCase(), isPrefix, ...within };
  const id = names.providerId(text);
  if (id !== undefined) return { kind: 'provider', id, isPrefix, ...within };
  throw new QueryError(`unknown provider ${text.slice(0, 64)}`, value.start, names.nearestProvider(text));
}

function tldCondition(value: QueryValue, names: QueryNames): Query {
  const { text, isPrefix } = withWildcard(value);
  const tld = isPrefix && text === '' ? '' : namePart(text.replace(/^\./, ''), value, names);
  if (tld.includes('.'))
    throw new QueryError(`tld is the last label of a name; name:*.${tld} finds longer ends`, value.start);
  return { kind: 'tld', tld, isPrefix };
}

/** Part of the name; with `*` at one end what the name begins or ends with. */
function nameCondition(value: QueryValue, names: QueryNames): Query {
  const isEnd = !value.isQuoted && value.text.startsWith('*');
  const rest = isEnd ? { ...value, text: value.text.slice(1), start: value.start + 1 } : value;
  const { text, isPrefix } = withWildcard(rest);
  const at = isEnd === isPrefix ? 'anywhere' : isPrefix ? 'start' : 'end';
  return { kind: 'name', part: namePart(text, value, names), at };
}

function namePart(text: string, { start }: QueryValue, names: QueryNames): string {
  const part = names.asciiPart(text);
  if (/^[a-z0-9._-]{1,253}$/.test(part)) return part;
  throw new QueryError('expected 1 to 253 characters that are valid in domain names', start);
}

/** The text before an asterisk at the end. */
function withWildcard(value: QueryValue): { readonly text: string; readonly isPrefix: boolean } {
  const isPrefix = !value.isQuoted && value.text.endsWith('*');
  const text = plain(isPrefix ? { ...value, text: value.text.slice(0, -1) } : value);
  return { text, isPrefix };
}

/** A value that is not a range and has no wildcard. */
function plain({ text, start, isQuoted, ends }: QueryValue): string {
  if (ends) throw new QueryError('ranges are for score, scanned and first_seen', start);
  if (isQuoted) return text;
  if (/^[<>]/.test(text)) throw new QueryError('comparisons are for score, scanned and first_seen', start);
  const wildcard = text.indexOf('*');
  if (wildcard < 0) return text;
  throw new QueryError('an asterisk cannot be used here', start + wildcard);
}
