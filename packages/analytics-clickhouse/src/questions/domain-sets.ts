// Sets of domains as expressions: the conditions of a search or a query become one bitmap, of type groupBitmap.
import { type DomainFilter, LEVELS, type ProductBuild, type Query, STATES } from '@strata/analytics';
import { CATEGORIES, POSTURE_FLAGS, ROLE_LIST, SECTORS } from '@strata/detect';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { asked } from './ask.ts';
import { joined, raw, type Sql, sql } from './sql.ts';

type Of<Kind extends Query['kind']> = Extract<Query, { kind: Kind }>;

export const ALL = sql`(SELECT groupBitmapXorMergeState(ids) FROM sets WHERE kind = 'all')`;
const NONE = raw('(SELECT groupBitmapState(id) FROM names WHERE false)');

/** The set of one term of the table `sets`. */
export const term = (kind: string, value: string): Sql =>
  sql`(SELECT groupBitmapXorMergeState(ids) FROM sets WHERE kind = ${kind} AND value = ${value})`;

const intersected = (sets: readonly Sql[]): Sql => sets.reduce((a, b) => sql`bitmapAnd(${a}, ${b})`);
const without = (set: Sql, other: Sql): Sql => sql`bitmapAndnot(${set}, ${other})`;
const united = (sets: readonly Sql[]): Sql =>
  sets.length === 0 ? NONE : sets.reduce((a, b) => sql`bitmapOr(${a}, ${b})`);

/** The union of the terms of one kind whose value is one of these, or for which the condition holds. */
function anyOf(kind: string, values: readonly string[] | Sql): Sql {
  if (Array.isArray(values) && values.length === 0) return NONE;
  const condition = 'parts' in values ? values : sql`value IN ${values}`;
  return sql`(SELECT groupBitmapOrState(ids) FROM (
    SELECT groupBitmapXorMergeState(ids) AS ids FROM sets WHERE kind = ${kind} AND ${condition} GROUP BY value))`;
}

const named = (condition: Sql): Sql => sql`(SELECT groupBitmapState(id) FROM (
    SELECT id FROM names WHERE ${condition} GROUP BY name, id HAVING sum(n) > 0))`;

/** The domains for which all conditions hold; undefined without a condition. */
export function filteredSet(filter: DomainFilter): Sql | undefined {
  const { part, sector, state, flags = [], without: barred = [], score, query, among, builds, with: other } = filter;
  const sets: Sql[] = [];
  const services = serviceSet(filter);
  if (services) sets.push(services);
  if (other !== undefined) sets.push(term('provider', other));
  if (sector !== undefined)
    sets.push(term('sector', (SECTORS as readonly string[]).includes(sector) ? sector : SECTORS[0]));
  if (state !== undefined) sets.push(anyOf('state', state === 'live' ? ['active', 'parked'] : [state]));
  for (const flag of flags) sets.push(term('flag', flag));
  if (score) sets.push(anyOf('score', range(Math.max(score.from, 0), Math.min(score.to, 100)).map(String)));
  if (part) for (const word of part.split(' ')) sets.push(named(sql`name LIKE ${`%${escaped(word)}%`}`));
  if (query) sets.push(querySet(query));
  if (builds) sets.push(anyOf('build', builds.map(buildValue)));
  if (among) {
    const some = 'ids' in among ? sql`bitmapBuild(${among.ids})` : named(sql`name IN ${among.names}`);
    const isEmpty = 'ids' in among ? among.ids.length === 0 : among.names.length === 0;
    sets.push(isEmpty ? NONE : sql`bitmapAnd(${some}, ${ALL})`);
  }
  if (sets.length === 0 && barred.length === 0) return undefined;
  if (sets.length === 0) sets.push(ALL);
  return barred.reduce((set, flag) => without(set, term('flag', flag)), intersected(sets));
}

/** The condition on one service. */
function serviceSet({ provider, category, role, confidence, minConfidence }: DomainFilter): Sql | undefined {
  const levels =
    confidence !== undefined ? [confidence] : minConfidence && LEVELS.slice(0, LEVELS.indexOf(minConfidence) + 1);
  if (provider !== undefined && role === undefined && levels === undefined)
    return category === undefined ? term('provider', provider) : term('placement', `${category} ${provider}`);
  if (provider !== undefined || role !== undefined) {
    if (provider === undefined && levels === undefined) return term('role', role ?? '');
    const conditions = [
      ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
      ...(category === undefined || provider === undefined ? [] : [sql`category = ${category}`]),
      ...(role === undefined ? [] : [sql`role = ${role}`]),
      ...(levels === undefined ? [] : [sql`level IN ${levels}`]),
    ];
    return sql`(SELECT groupBitmapState(id) FROM (SELECT id FROM services WHERE ${joined(conditions, raw(' AND '))}
      GROUP BY id, provider, category, level HAVING sum(n) > 0))`;
  }
  if (category !== undefined) {
    if (levels === undefined) return term('category', category);
    return anyOf(
      'category-level',
      levels.map((level) => `${category} ${level}`),
    );
  }
  return levels && anyOf('level', levels);
}

/** The domains that match a query. */
export function querySet(query: Query): Sql {
  switch (query.kind) {
    case 'and':
      return query.of.length === 0 ? ALL : intersected(query.of.map(querySet));
    case 'or':
      return united(query.of.map(querySet));
    case 'not':
      return without(ALL, querySet(query.of));
    case 'terms':
      return anyOf(
        query.of,
        query.numbers.map((number) => TERM_NAMES[query.of](number)),
      );
    case 'provider':
      return providerSet(query);
    case 'tld':
      return query.isPrefix ? anyOf('tld', sql`startsWith(value, ${query.tld})`) : term('tld', query.tld);
    case 'version':
      return versionSet(query);
    case 'name':
      return named(NAME_CONDITIONS[query.at](query.part));
    case 'time':
      return timeSet(query);
    default:
      return query satisfies never;
  }
}

/** The index's numbers of terms as the values of the table. */
const TERM_NAMES: Readonly<Record<Of<'terms'>['of'], (number: number) => string>> = {
  category: (number) => CATEGORIES[number] ?? '',
  role: (number) => ROLE_LIST[number] ?? '',
  state: (number) => STATES[number] ?? '',
  sector: (number) => SECTORS[number] ?? '',
  level: (number) => LEVELS[number] ?? '',
  flag: (number) => POSTURE_FLAGS[number] ?? '',
  score: String,
  country: (number) =>
    number === 0 ? '' : [Math.floor((number - 1) / 26), (number - 1) % 26].map((at) => LETTERS[at]).join(''),
};
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function providerSet({ id, isPrefix, category }: Of<'provider'>): Sql {
  const [kind, value] = category === undefined ? ['provider', id] : ['placement', `${category} ${id}`];
  return isPrefix ? anyOf(kind, sql`startsWith(value, ${value})`) : term(kind, value);
}

const NAME_CONDITIONS: Readonly<Record<Of<'name'>['at'], (part: string) => Sql>> = {
  anywhere: (part) => sql`name LIKE ${`%${escaped(part)}%`}`,
  start: (part) => sql`startsWith(name, ${part})`,
  end: (part) => sql`endsWith(name, ${part})`,
  exact: (part) => sql`name = ${part}`,
};

/** The characters that LIKE gives a meaning. */
const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** The numbers in a version without zeros at the end: 1.26 is 1.26.0. */
const numbersIn = (version: Sql): Sql => {
  const all = sql`arrayMap(x -> toFloat64(x), extractAll(${version}, '[0-9]+'))`;
  return sql`arraySlice(${all}, 1, arrayLastIndex(x -> x > 0, ${all}))`;
};
const SIGNS = { '<': raw('<'), '<=': raw('<='), '=': raw('='), '>=': raw('>='), '>': raw('>') } as const;

/** The values of builds: product, version and platform on lines; without a version the second one is empty. */
export const buildValue = ({ product, version, platform }: ProductBuild): string =>
  `${product}\n${version ?? ''}${platform === null ? '' : `\n${platform}`}`;

export function buildOf(value: string): ProductBuild {
  const [product = '', version = '', platform] = value.split('\n');
  return { product, version: version === '' ? null : version, platform: platform ?? null };
}

function versionSet({ id, bound }: Of<'version'>): Sql {
  const shown = raw("splitByChar('\n', value)[2]");
  const condition = bound
    ? sql`${numbersIn(shown)} ${SIGNS[bound.sign]} ${numbersIn(sql`${bound.version}`)}`
    : raw('true');
  return anyOf('build', sql`startsWith(value, ${`${id}\n`}) AND ${shown} != '' AND ${condition}`);
}

/** Milliseconds of a unit of the columns, and how the rows of a domain are merged: those of a former life do not count. */
export const TIME_COLUMNS = {
  scanned_at: { unitMs: 1, merged: raw('max(scanned_at)') },
  first_seen: { unitMs: 1_000, merged: raw('max(first_seen)') },
  changed_at: { unitMs: 1_000, merged: raw('if(max(changed_at) >= max(first_seen), max(changed_at), 0)') },
} as const;

function timeSet({ of, from, to }: Of<'time'>): Sql {
  const { unitMs, merged } = TIME_COLUMNS[of];
  // 0 is the time of what has not happened.
  const [first, last] = [Math.max(Math.ceil(from / unitMs), 1), Math.floor(to / unitMs)];
  return sql`bitmapAnd(${ALL}, (SELECT groupBitmapState(id) FROM (
    SELECT id FROM times GROUP BY id HAVING ${merged} >= ${first} AND ${merged} <= ${last})))`;
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

export interface Size {
  readonly value: string;
  readonly count: number;
}

/** The number of domains of each term of a kind in a set, most first, then by value; terms without domains are left out. */
export async function sizesOf(
  clickhouse: ClickHouse,
  kind: string,
  {
    within,
    prefix = '',
    values,
  }: { readonly within: Sql; readonly prefix?: string; readonly values?: readonly string[] },
): Promise<Size[]> {
  const conditions = [
    sql`kind = ${kind}`,
    ...(prefix === '' ? [] : [sql`startsWith(value, ${prefix})`]),
    ...(values ? [sql`value IN ${values}`] : []),
  ];
  return asked<Size>(
    clickhouse,
    sql`WITH ${within} AS matching
      SELECT substring(value, ${prefix.length + 1}) AS value, toInt64(bitmapAndCardinality(ids, matching)) AS count FROM (
        SELECT value, groupBitmapXorMergeState(ids) AS ids FROM sets WHERE ${joined(conditions, raw(' AND '))} GROUP BY value)
      WHERE count > 0 ORDER BY count DESC, value`,
  );
}
