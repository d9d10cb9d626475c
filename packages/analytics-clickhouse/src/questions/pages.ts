// The ids of a page: in the order of names without the names after it, or in the order of a value without the names of all
// matches.
import type { OrderKey, Search } from '@strata/analytics';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { NO_SCORE } from '../export/domain-row.ts';
import { asked } from './ask.ts';
import { sizesOf, TIME_COLUMNS, term } from './domain-sets.ts';
import { raw, type Sql, sql } from './sql.ts';

/** A set, the number of its domains, undefined if it is not known, and that of all domains. */
export interface CountedSet {
  readonly set: Sql;
  readonly size: number | undefined;
  readonly all: number;
}

interface Part {
  readonly limit: number;
  readonly offset: number;
  /** On `name`. */
  readonly condition?: Sql;
}

/** The number of domains of the set, and its page in the order of names if the first names have all of it. */
export async function countedSet(
  clickhouse: ClickHouse,
  set: Sql,
  { filter, order, limit, offset, after }: Search,
): Promise<CountedSet & { readonly size: number; readonly page: readonly number[] | undefined }> {
  const mayWalk = raw(String(limit > 0 && !order && !filter.part));
  const condition = later(after?.[1]);
  // The set is one scalar, which ClickHouse computes once.
  const [found] = await asked<FirstNames & { size: number; all: number; most: number }>(
    clickhouse,
    sql`WITH (SELECT ${set}) AS matching, bitmapCardinality(matching) AS size,
        (SELECT sum(n) FROM fact_counts WHERE kind = 'domain') AS all,
        ${rowsAhead(offset + limit)} * all / size AS wanted, wanted <= ${MAX_ROWS_AHEAD} AS isAhead,
        toUInt64(multiIf(NOT ${mayWalk} OR wanted > ${MAX_ROWS_WALKED}, 0, isAhead, ceil(wanted), ${offset + limit + SPARE_ROWS})) AS most
      SELECT size, all, most, ids, rows FROM (
        ${firstNames({ most: raw('most'), where: sql`if(isAhead, true, ${IS_MEMBER})` }, { limit, offset, condition })})`,
  );
  const { size = 0, all = 0, most = 0 } = found ?? {};
  return { set, size, all, page: found && most > 0 ? completePage(found, most, limit) : undefined };
}

export async function pageOf(clickhouse: ClickHouse, counted: CountedSet, search: Search): Promise<readonly number[]> {
  const { filter, order, limit, offset, after } = search;
  const first = filter.part?.split(' ')[0];
  if (!order && !first) return idsByName(clickhouse, counted, { limit, offset, condition: later(after?.[1]) });
  const groups = order
    ? valueGroups(clickhouse, counted, order, after)
    : [...nameGroups(clickhouse, counted, first ?? '', after?.[1])];
  const ids: number[] = [];
  for await (const group of groups) {
    if (ids.length >= offset + limit) break;
    ids.push(...(await group(offset + limit - ids.length)));
  }
  return ids.slice(offset);
}

/** Domains that follow those of another group: its first ids. */
type Group = (limit: number) => Promise<readonly number[]>;

const later = (name: string | undefined): Sql => (name === undefined ? raw('true') : sql`name > ${name}`);

/** Names that begin with the part come first. */
function* nameGroups(
  clickhouse: ClickHouse,
  counted: CountedSet,
  part: string,
  after: string | undefined,
): Generator<Group> {
  const begins = sql`startsWith(name, ${part})`;
  const isPast = after !== undefined && !after.startsWith(part);
  const group =
    (condition: Sql): Group =>
    (limit) =>
      idsByName(clickhouse, counted, { limit, offset: 0, condition });
  if (!isPast) yield group(sql`${begins} AND ${later(after)}`);
  yield group(sql`NOT ${begins} AND ${later(isPast ? after : undefined)}`);
}

/** A domain is read by its id as fast as this many rows of `names`. */
const ROWS_A_LOOKUP = 1_000;
const MAX_LOOKUPS = 50_000;
/** A set of more domains is faster to ask as it is. */
const MAX_HASHED = 20_000;
const SPARE_ROWS = 16;
/** At most this many names are read before the set is asked. */
const MAX_ROWS_AHEAD = 100_000;
/** More than this many names for a page are not read before the number of domains is known. */
const MAX_ROWS_WALKED = 1_000_000;
/** Names for so many domains of a set of all domains, and some more where they are spread less evenly. */
const rowsAhead = (domains: number) => Math.ceil((domains + SPARE_ROWS) * 1.3);

interface FirstNames {
  readonly ids: readonly number[];
  readonly rows: number;
}

/** Of the names in order the first ones for which `where` holds: of them the members of `matching`, one more than the limit. */
const firstNames = (
  { most, where = raw('true'), isMatch = IS_MEMBER }: { readonly most: number | Sql; where?: Sql; isMatch?: Sql },
  { limit, offset, condition = raw('true') }: Part,
): Sql => sql`SELECT arraySlice(groupArrayIf(member, isCurrent), ${offset + 1}, ${limit + 1}) AS ids, sum(rows) AS rows FROM (
    SELECT if(isMatch, name, '') AS memberName, if(isMatch, id, 0) AS member, any(isMatch) AND sum(n) > 0 AS isCurrent,
      toInt64(count()) AS rows FROM (
      SELECT name, id, n, ${isMatch} AS isMatch FROM (
        SELECT name, id, n FROM names WHERE ${where} AND ${condition} ORDER BY name, id LIMIT ${most}
        SETTINGS max_threads = 1, max_block_size = 8192, read_in_order_use_buffering = 0,
          use_index_for_in_with_subqueries = 0))
    GROUP BY memberName, member ORDER BY memberName, member)`;
const IS_MEMBER = raw('bitmapContains(matching, id)');

/** The last of a limited number of rows may be incomplete; it is not on the page if another domain follows it. */
const completePage = ({ ids, rows }: FirstNames, most: number, limit: number): readonly number[] | undefined =>
  ids.length > limit || rows < most ? ids.slice(0, limit) : undefined;

async function idsByName(
  clickhouse: ClickHouse,
  { set, size, all }: CountedSet,
  part: Part,
): Promise<readonly number[]> {
  const { limit, offset, condition = raw('true') } = part;
  const end = offset + limit;
  // Rows of names until the page is complete, if the domains are spread evenly over them.
  const rows = size === undefined ? Number.POSITIVE_INFINITY : (rowsAhead(end) * all) / size;
  if (size !== undefined && size <= MAX_LOOKUPS && size * ROWS_A_LOOKUP < rows)
    return idsOf(
      clickhouse,
      sql`SELECT id FROM (SELECT id, name, sum(sign) AS n FROM domains
        WHERE id IN (SELECT arrayJoin(bitmapToArray(${set}))) AND ${condition} GROUP BY id, seq, name HAVING n > 0)
        ORDER BY name LIMIT ${limit} OFFSET ${offset}`,
    );
  const read = async (most: number, how: { where?: Sql; isMatch?: Sql } = {}) => {
    const statement = sql`WITH (SELECT ${set}) AS matching ${firstNames({ ...how, most }, part)}`;
    const [found = { ids: [], rows: 0 }] = await asked<FirstNames>(clickhouse, statement);
    return completePage(found, most, limit);
  };
  // A large set as a condition of the read is copied several times, which takes longer than to read other names too.
  const page = rows > MAX_ROWS_AHEAD ? undefined : await read(Math.ceil(rows));
  if (page) return page;
  const isHashed = size !== undefined && size <= MAX_HASHED;
  const where = isHashed ? sql`id IN (SELECT arrayJoin(bitmapToArray(matching)))` : IS_MEMBER;
  // More rows than domains, because merges may not have summed all of them yet.
  for (let most = end + SPARE_ROWS; ; most *= 4) {
    const page = await read(most, { where, isMatch: raw('true') });
    if (page) return page;
  }
}

async function idsOf(clickhouse: ClickHouse, statement: Sql): Promise<readonly number[]> {
  return (await asked<{ id: number }>(clickhouse, statement)).map(({ id }) => id);
}

type Order = NonNullable<Search['order']>;

/** Domains without a value come last, in the order of names. */
function valueGroups(
  clickhouse: ClickHouse,
  counted: CountedSet,
  { by, isDescending }: Order,
  after: OrderKey | undefined,
): AsyncGenerator<Group> {
  return by === 'score'
    ? scoreGroups(clickhouse, counted, isDescending, after)
    : timeGroups(clickhouse, counted, { by, isDescending }, after);
}

/** The domains of each score are a set. */
async function* scoreGroups(
  clickhouse: ClickHouse,
  { set, all }: CountedSet,
  isDescending: boolean,
  after: OrderKey | undefined,
): AsyncGenerator<Group> {
  const rankOf = (score: number | null) =>
    score === null || score === NO_SCORE ? Number.POSITIVE_INFINITY : isDescending ? -score : score;
  const sizes = await sizesOf(clickhouse, 'score', { within: set });
  const scores = sizes.map(({ value, count }) => ({ value, count, rank: rankOf(Number(value)) }));
  const key = after ? rankOf(after[0]) : Number.NEGATIVE_INFINITY;
  for (const { value, count, rank } of scores.toSorted((a, b) => a.rank - b.rank)) {
    if (rank < key) continue;
    const counted = { set: sql`bitmapAnd(${set}, ${term('score', value)})`, size: count, all };
    const condition = later(rank === key ? after?.[1] : undefined);
    yield (limit) => idsByName(clickhouse, counted, { limit, offset: 0, condition });
  }
}

/** Those with the time of the key, those with later ones of the order, and those without one. */
async function* timeGroups(
  clickhouse: ClickHouse,
  { set, all }: CountedSet,
  { by, isDescending }: Order & { readonly by: keyof typeof TIME_COLUMNS },
  after: OrderKey | undefined,
): AsyncGenerator<Group> {
  const { unitMs, merged } = TIME_COLUMNS[by];
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  const times = sql`SELECT id, ${merged} AS value FROM times WHERE bitmapContains(matching, id) GROUP BY id`;
  const key = after && after[0] !== null ? Math.trunc(after[0] / unitMs) : undefined;
  const having = (condition: Sql) =>
    sql`(WITH ${set} AS matching SELECT groupBitmapState(id) FROM (${times}) WHERE ${condition})`;
  const byName =
    (condition: Sql, name: string | undefined): Group =>
    (limit) =>
      idsByName(
        clickhouse,
        { set: having(condition), size: undefined, all },
        { limit, offset: 0, condition: later(name) },
      );
  // 0 is not a time: its domains are the last group.
  if (key) yield byName(sql`value = ${key}`, after?.[1]);
  const outside = key === undefined ? raw('true') : sql`value ${raw(isDescending ? '<' : '>')} ${key}`;
  if (!after || key !== undefined)
    yield (limit) =>
      idsOf(
        clickhouse,
        sql`WITH ${set} AS matching,
          (SELECT groupArray((id, value)) FROM (SELECT id, value FROM (${times}) WHERE value != 0 AND ${outside}
            ORDER BY value ${direction} LIMIT ${limit} WITH TIES)) AS first
        SELECT id FROM (SELECT id, name FROM domains WHERE id IN first.1 GROUP BY id, seq, name HAVING sum(sign) > 0) AS named
          INNER JOIN (SELECT each.1 AS id, each.2 AS value FROM (SELECT arrayJoin(first) AS each)) AS valued USING id
        ORDER BY value ${direction}, name LIMIT ${limit}`,
      );
  yield byName(sql`value = 0`, after?.[0] === null ? after[1] : undefined);
}
