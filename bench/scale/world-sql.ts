// The world of the suite as SELECT statements over the numbers of domains, so that ClickHouse makes a hundred million of them: a
// stack of about eight services, providers by Zipf's law, and two years of changes. Everything is a hash of a domain's number.
import { CATEGORIES, ROLES, SECTORS } from '@strata/detect';
import { loadedWorld } from '@strata/testnet';

export const PROVIDERS = 2_500;
export const ENDS_AT = Date.parse('2026-11-21T12:00:00Z');
export const TODAY = Math.floor(ENDS_AT / 86_400_000);
export const HISTORY_DAYS = 730;
const DAY_MS = 86_400_000;

/** Average number of services of a domain by category, as in the loaded worlds of the other suites: 8.3 in all. */
const MEANS: Readonly<Record<(typeof CATEGORIES)[number], number>> = {
  ...{ dns: 1, email: 0.8, email_security: 0.25, email_sending: 1.2, hosting: 0.8, cdn: 0.4, security: 0.15 },
  ...{ verified_service: 1.8, certificate_authority: 0.9, web_platform: 1 },
};
/** Changes of a service a year; half of them are migrations. */
const CHANGES_A_YEAR = 0.2;
const COUNTRIES = 60;
const MIGRATION_WINDOW_DAYS = 90;

const list = (words: readonly string[]): string => `[${words.map((word) => `'${word}'`).join(', ')}]`;
const { providers } = loadedWorld({ domains: 0, providers: PROVIDERS, endsAt: ENDS_AT });
const marketOf = (category: string): string[] =>
  providers.filter(({ categories }) => categories.includes(category)).map(({ id }) => id);
/** By category, the largest first. */
export const MARKETS = Object.fromEntries(CATEGORIES.map((category) => [category, marketOf(category)]));

/** Uniform in [0, 1): a function of the domain and the purpose. */
const uniform = (purpose: string): string => `(bitShiftRight(cityHash64(id, '${purpose}'), 11) / 9007199254740992)`;
/** 1 to n, the k-th about 1/k as often as the first. */
const zipf = (purpose: string, n: number): string => `toUInt32(floor(exp(${uniform(purpose)} * log(${n + 1}))))`;
const oneOf = (words: readonly string[], purpose: string): string =>
  `arrayElement(${list(words)}, 1 + toUInt32(${uniform(purpose)} * ${words.length}))`;

/** A category has as many slots as a domain may have services in it; of equal providers the second is left out. */
const SLOTS = CATEGORIES.flatMap((category) =>
  Array.from({ length: Math.ceil(MEANS[category]) }, (_, slot) => ({ category, slot, name: `${category}_${slot}` })),
);
const RANKS = SLOTS.map(({ category, slot, name }) => {
  const share = Math.min(MEANS[category] - slot, 1);
  const isUsed = `${uniform(`${name} used`)} < ${share} AND ${category === 'dns' ? 'true' : "state = 'active'"}`;
  return `if(${isUsed}, ${zipf(name, MARKETS[category]?.length ?? 0)}, 0) AS drawn_${name}`;
});
/** In the order of the ids of providers, which is that of their ranks. */
const providerOf = ({ category, slot, name }: (typeof SLOTS)[number]): string => {
  const pair = [0, 1].map((each) => `drawn_${category}_${each}`).join(', ');
  const isPair = SLOTS.some((each) => each.category === category && each.slot === 1);
  const rank = !isPair ? `drawn_${name}` : slot === 0 ? `least(${pair})` : `if(equals(${pair}), 0, greatest(${pair}))`;
  return `if(${rank} = 0, '', arrayElement(${list(MARKETS[category] ?? [])}, ${rank}))`;
};
const LEVEL = (name: string): string =>
  `transform(toUInt8(${uniform(`${name} level`)} * 100 >= 85) + toUInt8(${uniform(`${name} level`)} * 100 >= 97), [0, 1, 2], ['high', 'medium', 'low'], 'high')`;
const VERSION = (category: string): string =>
  category !== 'web_platform' || MARKETS[category] === undefined
    ? "''"
    : `if(${uniform('versioned')} < 0.3, concat(toString(1 + toUInt8(${uniform('major')} * 9)), '.', toString(toUInt8(${uniform('minor')} * 20))), '')`;

const SYLLABLES =
  'ba bel bri cas clo dan der dri el fan flo gar gri hal hon in jor kan kel lar len lis mar mel mon nar nel nor ol pan pel pri qua ran rel rin sal sel shi sol stan tal tel tri um val ver vin wal wen wil yor zan zel'.split(
    ' ',
  );
const SUFFIXES =
  'com com com com com com com com de de de co.uk co.uk org org net net nl fr io it es pl ch at be se dk fi no cz eu ie pt gr ca com.au co.jp com.br in mx us info biz'.split(
    ' ',
  );
/** A bijection of 29 bits: no two names are equal, and the order of the names is not that of the numbers. */
const BITS = 2 ** 29;
const SCRAMBLED = `(SELECT id, bitXor(bitShiftRight(mixed, 13), mixed) AS label FROM (
  SELECT id, (bitXor(bitShiftRight(first, 15), first) * 73244475) % ${BITS} AS mixed FROM (
    SELECT id, (toUInt64(id) * 387420489) % ${BITS} AS first FROM $)))`;
const syllable = (at: number): string =>
  `arrayElement(${list(SYLLABLES)}, 1 + intDiv(label, ${SYLLABLES.length ** at}) % ${SYLLABLES.length})`;

/** Shares of the flags of a posture by bit; all eight are measured. */
const MEASURED = [0, 7, 16, 18, 20, 22, 24, 26].reduce((bits, bit) => bits + 2 ** bit, 0);
const FLAGS = [
  [1, 0.75],
  [3, 0.3],
  [4, 0.4],
  [8, 0.5],
  [9, 0.25],
  [10, 0.1],
  [11, 0.15],
  [12, 0.25],
  [13, 0.1],
  [14, 0.15],
  [15, 0.35],
  [17, 0.01],
  [19, 0.02],
  [21, 0.08],
  [23, 0.1],
  [25, 0.01],
  [27, 0.9],
] as const;
const POSTURE = FLAGS.map(([bit, share]) => `if(${uniform(`flag ${bit}`)} < ${share}, ${2 ** bit}, 0)`).join(' + ');
/** Three bits for each category: 1 a provider, 3 unknown, 4 none. */
const HOLDERS = CATEGORIES.map(
  (category, i) =>
    `bitShiftLeft(if(arrayExists((c, l) -> c = '${category}' AND l != 'low', categories, levels), 1, ${i % 4 === 0 ? 3 : 4}), ${i * 3})`,
).join(' + ');

const ids = (from: number, count: number): string => `(SELECT toUInt32(number) AS id FROM numbers(${from}, ${count}))`;

/** The columns of `journal_domains` after block and attempt, of the domains from an id on. */
export const domainsOf = (from: number, count: number): string => `
SELECT id, name, arrayElement(splitByChar('.', name), -1) AS tld, state, sector, posture, toUInt32(${HOLDERS}) AS holders, country,
  toUInt8(round(100 * bitCount(posture) / 20)) AS score, categories, providers, roles, levels, versions,
  arrayMap(x -> CAST(NULL, 'Nullable(String)'), categories) AS platforms, toUInt64(0) AS seq, toInt8(1) AS sign
FROM (SELECT id, state, concat(${[0, 1, 2, 3, 4].map(syllable).join(', ')}, '.', ${oneOf(SUFFIXES, 'suffix')}) AS name,
    if(${uniform('sector known')} < 0.8, 'unknown', ${oneOf(SECTORS, 'sector')}) AS sector,
    toUInt32(${MEASURED} + ${POSTURE}) AS posture,
    if(${uniform('country known')} < 0.2, '', char(97 + ${zipf('country', COUNTRIES)} % 26, 97 + intDiv(${zipf('country', COUNTRIES)} * 7, 10) % 26)) AS country,
    [${SLOTS.map(providerOf).join(', ')}] AS all_providers,
    arrayFilter((x, p) -> p != '', ${list(SLOTS.map(({ category }) => category))}, all_providers) AS categories,
    arrayFilter((x, p) -> p != '', ${list(SLOTS.map(({ category }) => ROLES[category]))}, all_providers) AS roles,
    arrayFilter((x, p) -> p != '', [${SLOTS.map(({ name }) => LEVEL(name)).join(', ')}], all_providers) AS levels,
    arrayFilter((x, p) -> p != '', [${SLOTS.map(({ category }) => VERSION(category)).join(', ')}], all_providers) AS versions,
    arrayFilter(p -> p != '', all_providers) AS providers
  FROM (SELECT *, ${RANKS.join(', ')} FROM (
    SELECT id, label, if(${uniform('parked')} < 0.04, 'parked', 'active') AS state
    FROM ${SCRAMBLED.replace('$', ids(from, count))})))`;

/** Those of `journal_times`: scanned within a fortnight, first observed within two years, half of them changed since. */
export const timesOf = (from: number, count: number): string => `
SELECT id, toInt64(${ENDS_AT} - ${uniform('scanned')} * ${14 * DAY_MS}) AS scanned_at, toUInt32(${ENDS_AT / 1_000} - ${uniform('first')} * ${HISTORY_DAYS * 86_400}) AS first_seen,
  if(${uniform('changed')} < 0.5, toUInt32(${ENDS_AT / 1_000} - ${uniform('change')} * (${ENDS_AT / 1_000} - first_seen)), 0) AS changed_at FROM ${ids(from, count)}`;

const EXCLUSIVE = ['dns', 'email', 'email_security', 'hosting', 'cdn', 'certificate_authority'] as const;
const MOVED = list(EXCLUSIVE.flatMap((category) => MARKETS[category]?.slice(0, 201) ?? []));
/** Those of `journal_migrations`: of the days that questions reach back. */
export const migrationsOf = (from: number, count: number): string => `
SELECT domain_id, confirmed_at, arrayElement(${list(EXCLUSIVE)}, 1 + kind) AS category,
  arrayElement(${MOVED}, kind * 201 + drawn) AS from_provider,
  arrayElement(${MOVED}, kind * 201 + if(drawn = other, 1 + drawn % 200, other)) AS to_provider FROM (
  SELECT id AS domain_id, toInt64(${ENDS_AT} - ${uniform('moved at')} * ${MIGRATION_WINDOW_DAYS * DAY_MS}) AS confirmed_at,
    toUInt32(${uniform('moved')} * ${EXCLUSIVE.length}) AS kind, ${zipf('moved from', 200)} AS drawn, ${zipf('moved to', 200)} AS other
  FROM ${ids(from, count)} WHERE ${uniform('moves')} < ${(EXCLUSIVE.reduce((sum, each) => sum + MEANS[each], 0) * CHANGES_A_YEAR * MIGRATION_WINDOW_DAYS) / 365 / 2})`;

/** A placement as ClickHouse's tuple: category, provider, and changes a day of so many domains. */
const placements = (domains: number): string =>
  CATEGORIES.flatMap((category) => {
    const market = MARKETS[category] ?? [];
    const daily = (domains * MEANS[category] * CHANGES_A_YEAR) / Math.log(market.length + 1) / 365;
    return market.map(
      (provider, i) => `('${category}', '${provider}', ${(daily * Math.log1p(1 / (i + 1))).toPrecision(6)})`,
    );
  }).join(', ');
const noise = (...columns: readonly string[]): string => `cityHash64(${columns.join(', ')}) / 18446744073709551616.`;

/** Those of `journal_change_days`: as many a day as the changes of so many domains, by placement. */
export const changeDaysOf = (domains: number): string => `
SELECT provider, category, toUInt32(${TODAY} - ago) AS day, gained, intDiv(gained * 9, 10) AS entered, lost,
  intDiv(lost * 9, 10) AS exited, intDiv(gained, 2) AS migrated, 0 AS reclassified
FROM (SELECT placed.1 AS category, placed.2 AS provider, ago,
    placed.3 * (0.8 + 0.4 * ${noise('provider', 'category', 'ago')}) AS mean,
    toInt64(floor(mean + ${noise('ago', 'provider', 'category')})) AS gained,
    toInt64(floor(mean * 0.9 + ${noise('category', 'ago', 'provider')})) AS lost
  FROM (SELECT arrayJoin([${placements(domains)}]) AS placed, arrayJoin(range(${HISTORY_DAYS})) AS ago))
WHERE gained + lost > 0`;

/** Those of `journal_scan_days`: a fourteenth of the domains a day. */
export const scanDaysOf = (domains: number): string =>
  `SELECT toUInt32(${TODAY} - number) AS day, 'r1' AS rulebook, toInt64(${Math.ceil(domains / 14)}) AS scans, scans AS measured FROM numbers(${HISTORY_DAYS})`;
