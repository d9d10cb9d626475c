// Applies a committed block: for each table one statement that computes its rows from the journal. The rows of a block are the
// states of domains that it replaces, with sign −1, and those that replace them, with sign 1.
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, ROLE_FACTS, ROLE_LIST, ROLES } from '@strata/detect';
import { JOURNALED } from '../tables/tables.ts';

export interface TableInsert {
  readonly table: string;
  readonly columns: readonly string[];
  /** Selects the columns from the journal; reads `{attempt:UInt64}`. */
  readonly select: string;
}

/** The states of a block; the counts are also those of other rows of states: `FROM … WHERE …`. */
const JOURNAL = 'FROM journal_domains WHERE block = {block:UInt64} AND attempt = {attempt:UInt64}';
const list = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(', ')}]`;

/** Sets of facts: the expression of the value by kind. */
const FACTS = { all: "''", state: 'state', sector: 'sector', country: 'country', tld: 'tld', score: 'toString(score)' };
const FLAG = `arrayElement(${list(POSTURE_FLAGS)}, arrayJoin(bitPositionsToArray(posture)) + 1)`;
const COUNTED = `arrayFilter((x, l) -> l != 'low', $, levels)`;
const COUNTED_ROLES = COUNTED.replace('$', 'roles');
/** Roles in which a domain has several services of more than low confidence: in another role it depends on one provider. */
const SHARED = `arrayJoin(arrayFilter((role, n) -> n = 2, ${COUNTED_ROLES}, arrayEnumerateUniq(${COUNTED_ROLES})))`;
const toggles = ([kind, value]: readonly [string, string]): string =>
  `SELECT '${kind}' AS kind, toString(${value}) AS value, sign, groupBitmapState(id) AS toggled ${JOURNAL} GROUP BY value, sign`;

/** Sets of services are unions of the smallest ones. */
const SERVICE_TERMS = `[('provider', toString(provider)), ('category', toString(category)), ('role', toString(role)),
  ('level', toString(level)), ('placement', concat(category, ' ', provider)), ('category-level', concat(category, ' ', level)),
  if(level = 'high', ('', ''), ('weak', concat(category, ' ', provider, ' ', level)))]`;
const SERVICE_TOGGLES = `SELECT term.1 AS kind, term.2 AS value, sign, groupBitmapOrState(ids) AS toggled FROM (
  SELECT sign, ids, arrayJoin(${SERVICE_TERMS}) AS term FROM (
    SELECT category, provider, role, level, sign, groupBitmapState(id) AS ids
    FROM (SELECT id, sign, categories, providers, roles, levels ${JOURNAL})
    ARRAY JOIN categories AS category, providers AS provider, roles AS role, levels AS level GROUP BY ALL))
WHERE kind != '' GROUP BY kind, value, sign`;

/** The services of more than low confidence, in the order in which one of each provider is chosen: as `shownBy` of the index. */
const SHOWN = `arraySort(arrayFilter(x -> x.7 != 'low', arrayMap((p, v, f, l, i) ->
  (v = '', l != 'high', i, toString(p), toString(v), f, l), providers, versions, platforms, levels, arrayEnumerate(levels))))`;
const BUILD = `concat(x.4, '\\n', x.5, if(x.5 = '', '', ifNull(concat('\\n', x.6), '')))`;
const BUILD_TOGGLES = `SELECT 'build' AS kind, value, sign, groupBitmapState(id) AS toggled FROM (
  SELECT id, sign, ${SHOWN} AS shown, arrayMap(x -> x.4, shown) AS products, arrayJoin(arrayMap(x -> ${BUILD},
    arrayFilter((x, n) -> indexOf(products, x.4) = n, shown, arrayEnumerate(shown)))) AS value ${JOURNAL})
GROUP BY value, sign`;

/** A term of both states of a domain is toggled twice, and so not at all. */
const SETS = `SELECT kind, value, groupBitmapXorState(toggled) AS ids FROM (
  ${[...Object.entries(FACTS), ['flag', FLAG] as const, ['shared', SHARED] as const].map(toggles).join('\n  UNION ALL ')}
  UNION ALL ${SERVICE_TOGGLES}
  UNION ALL ${BUILD_TOGGLES})
GROUP BY kind, value HAVING groupBitmapXor(toggled) > 0`;

/** A domain with more providers in one market counts as one with this many. */
const MAX_SHARED = 64;
const shared = (words: string): string =>
  `arrayMap(x -> toUInt8(least(countEqual(${COUNTED.replace('$', words)}, x), ${MAX_SHARED})), ${words})`;

export const placementCounts = (
  source = JOURNAL,
): string => `SELECT category, provider, role, level, state, in_category, in_role, sum(sign) AS n
FROM (SELECT state, sign, categories, providers, roles, levels, ${shared('categories')} AS of_category,
  ${shared('roles')} AS of_role ${source})
ARRAY JOIN categories AS category, providers AS provider, roles AS role, levels AS level, of_category AS in_category,
  of_role AS in_role
GROUP BY ALL HAVING n != 0`;

/** Providers of high or medium confidence that share none of their roles of the domain with another one. */
const SOLE = `arrayFilter((p, r, l) -> l != 'low' AND countEqual(${COUNTED_ROLES}, r) = 1, providers, roles, levels)`;
const PROVIDER_COUNTS = `SELECT provider, sum(sign) AS domains, sum(sign * has(sole, provider)) AS sole
FROM (SELECT sign, ${SOLE} AS sole, arrayJoin(arrayDistinct(providers)) AS provider ${JOURNAL})
GROUP BY provider HAVING domains != 0 OR sole != 0`;

/**
 * Counted once, and stored in both directions. The keys are the numbers of the providers in the order of their ids: texts take
 * several times as long, and rows in the order of the table are not sorted again.
 */
const PAIR_COUNTS = `WITH (SELECT arraySort(groupUniqArrayArray(providers)) ${JOURNAL}) AS known
SELECT arrayElement(known, intDiv(pair, ${2 ** 32})) AS a, arrayElement(known, pair % ${2 ** 32}) AS b, n FROM (
  SELECT arrayJoin([pair, pair % ${2 ** 32} * ${2 ** 32} + intDiv(pair, ${2 ** 32})]) AS pair, n FROM (
    SELECT toUInt64(a) * ${2 ** 32} + b AS pair, sum(sign) AS n FROM (
      SELECT sign, a, arraySlice(used, at + 1) AS larger FROM (
        SELECT sign, arrayMap(p -> transform(p, known, range(1, length(known) + 1), 0), providers) AS numbers,
          arraySort(arrayDistinct(numbers)) AS used ${JOURNAL})
      ARRAY JOIN used AS a, arrayEnumerate(used) AS at)
    ARRAY JOIN larger AS b GROUP BY pair HAVING n != 0)
  ORDER BY pair)`;

export const factCounts = (
  source = JOURNAL,
): string => `SELECT fact.1 AS kind, fact.2 AS value, state, sector, sum(sign) AS n
FROM (SELECT state, sector, sign, arrayJoin(arrayConcat([('domain', ''), ('score', toString(score))],
  arrayMap(i -> ('flag', arrayElement(${list(POSTURE_FLAGS)}, i + 1)), bitPositionsToArray(posture)))) AS fact ${source})
GROUP BY ALL HAVING n != 0`;

/** Numbers of holders: the column \`holders\` has three bits for the main role of each category. */
const holder = (name: (typeof HOLDERS)[number]): number => HOLDERS.indexOf(name);
const NO_HOLDER = HOLDERS.indexOf('nobody');
const measured = (category: number): string => `bitAnd(bitShiftRight(holders, ${category * 3}), 7)`;
/** A known service decides; a provider without one is not measured. */
const categoryHolder = (category: number): string =>
  `multiIf(has(used_categories, '${CATEGORIES[category]}'), ${holder('provider')},
    ${measured(category)} = ${holder('provider')}, ${holder('unmeasured')}, ${measured(category)})`;

/** Without a known service, only the main role of a category has a measured holder. */
function roleHolder(role: (typeof ROLE_LIST)[number]): string {
  const { category } = ROLE_FACTS[role];
  const own = categoryHolder(CATEGORIES.indexOf(category));
  const isUsed = `has(used_roles, '${role}'), ${holder('provider')}`;
  if (ROLES[category] !== role)
    return `multiIf(${isUsed}, ${own} = ${holder('unmeasured')}, ${holder('unmeasured')}, ${NO_HOLDER})`;
  const number = CATEGORIES.indexOf(category);
  return `multiIf(${isUsed}, ${measured(number)} = ${holder('provider')}, ${holder('unmeasured')}, ${measured(number)})`;
}

const marketRows = (kind: string, names: readonly string[], holders: readonly string[]): string =>
  names.map((name, at) => `('${kind}', '${name}', toUInt8(${holders[at]}))`).join(', ');
/** Many domains use the same categories and roles: their markets are evaluated once. */
export const holderCounts = (
  source = JOURNAL,
): string => `SELECT held.1 AS market_kind, held.2 AS market, arrayElement(${list(HOLDERS)}, held.3 + 1) AS holder,
  state, sum(domains) AS n
FROM (SELECT state, domains, arrayJoin([${marketRows('category', CATEGORIES, [...CATEGORIES.keys()].map(categoryHolder))},
    ${marketRows('role', ROLE_LIST, ROLE_LIST.map(roleHolder))}]) AS held
  FROM (SELECT state, holders, arraySort(arrayDistinct(${COUNTED.replace('$', 'categories')})) AS used_categories,
    arraySort(arrayDistinct(${COUNTED_ROLES})) AS used_roles, sum(sign) AS domains ${source}
    GROUP BY ALL HAVING domains != 0))
GROUP BY ALL HAVING n != 0`;

/** Equal rows are summed by the table's engine. */
const SERVICES = `SELECT provider, category, id, level, version, platform, role, sign AS n
${JOURNAL.replace(
  'WHERE',
  `ARRAY JOIN providers AS provider, categories AS category, levels AS level, versions AS version,
  platforms AS platform, roles AS role WHERE`,
)}`;

const NAMES = `SELECT name, id, sign AS n ${JOURNAL}`;

const insertOf = (table: string, columns: string, select: string): TableInsert => ({
  table,
  columns: columns.split(' '),
  select,
});

/** Computed from the states of domains. */
const COMPUTED: readonly TableInsert[] = [
  insertOf('names', 'name id n', NAMES),
  insertOf('services', 'provider category id level version platform role n', SERVICES),
  insertOf('sets', 'kind value ids', SETS),
  insertOf('placement_counts', 'category provider role level state in_category in_role n', placementCounts()),
  insertOf('provider_counts', 'provider domains sole', PROVIDER_COUNTS),
  insertOf('pair_counts', 'a b n', PAIR_COUNTS),
  insertOf('fact_counts', 'kind value state sector n', factCounts()),
  insertOf('holder_counts', 'market_kind market holder state n', holderCounts()),
];

/** Taken over as they are. */
const COPIED: readonly TableInsert[] = JOURNALED.map(({ name, columns }) => {
  const names = Object.keys(columns);
  const where = 'WHERE block = {block:UInt64} AND attempt = {attempt:UInt64}';
  return { table: name, columns: names, select: `SELECT ${names.join(', ')} FROM journal_${name} ${where}` };
});

/** By the journal that it reads, so that a block skips the journals in which it has no rows. */
export const FAN_OUT: Readonly<Record<string, readonly TableInsert[]>> = Object.fromEntries(
  COPIED.map((copy) => [copy.table, copy.table === 'domains' ? [copy, ...COMPUTED] : [copy]]),
);
