// Whether ClickHouse has exactly what is in the store: every row of every table, worked out from the store in the plainest way.
import assert from 'node:assert/strict';
import type { IndexedDomain, IndexedService } from '@strata/analytics';
import type { ClickHouse } from '@strata/analytics-clickhouse';
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, ROLE_FACTS, ROLE_LIST, ROLES, type RoleOf } from '@strata/detect';
import type { Store } from '../../store/index.ts';
import { readFeed } from '../../store/test/scans.ts';

type Cell = string | number | null;
type Rows = readonly (readonly Cell[])[];

/** Throws at the first difference; returns how many domains and services were compared. */
export async function checkTables(clickhouse: ClickHouse, store: Store, roleOf: RoleOf): Promise<[number, number]> {
  const { domains, changeDays, migrations, scanDays } = await readFeed(store);
  const all = domains.map((domain) => ({
    ...domain,
    services: domain.services.map((each) => serviceOf(each, roleOf)),
  }));
  const each = (rows: (domain: Domain) => Rows) => all.flatMap(rows);
  /** Rows of equal values are counted; the last column is their number. */
  const same = async (table: string, columns: string, expected: Rows, count = 'n') => {
    const text = `SELECT ${columns}, sum(${count}) AS total FROM ${table} GROUP BY ALL HAVING total != 0`;
    const found = await clickhouse.query<Record<string, Cell>>(text);
    const counts = new Map<string, number>();
    for (const row of expected) counts.set(JSON.stringify(row), (counts.get(JSON.stringify(row)) ?? 0) + 1);
    const actual = found.map((row) => Object.values(row)).map((row) => [JSON.stringify(row.slice(0, -1)), row.at(-1)]);
    assert.deepEqual(actual.toSorted(), [...counts].toSorted(), table);
  };
  const facts = 'id, name, tld, state, sector, posture, holders, country, score';
  const [factRows, nameRows] = [(d: Domain) => [factsOf(d)], (d: Domain) => [[d.name, d.id]]];
  await same('domains', facts, each(factRows), 'sign');
  await same('names', 'name, id', each(nameRows));
  const arrays = 'categories AS c, providers AS p, roles AS r, levels AS l, versions AS v, platforms AS f';
  const services = (d: Domain): Rows =>
    d.services.map(({ category, provider, role, level, version, platform }) => [
      ...[d.id, category, provider, role, level, version, platform],
    ]);
  await same(`domains ARRAY JOIN ${arrays}`, 'id, c, p, r, l, v, f', each(services), 'sign');
  await same('services', 'id, category, provider, role, level, version, platform', each(services));
  const shared = (d: Domain): Rows =>
    d.services.map((service) => [
      ...[service.category, service.provider, service.role, service.level, d.state],
      ...(['category', 'role'] as const).map((kind) => firmIn(d, kind, service[kind]).length),
    ]);
  await same('placement_counts', 'category, provider, role, level, state, in_category, in_role', each(shared));
  for (const [count, of] of [
    ['domains', providersOf],
    ['sole', soleOf],
  ] as const) {
    const providers = (d: Domain) => of(d).map((provider) => [provider]);
    await same('provider_counts', 'provider', each(providers), count);
  }
  const pairs = (d: Domain) => providersOf(d).flatMap((a) => providersOf(d).flatMap((b) => (a === b ? [] : [[a, b]])));
  await same('pair_counts', 'a, b', each(pairs));
  const counted = (d: Domain): Rows =>
    [['domain', ''], ['score', `${d.score ?? 255}`], ...flagsOf(d).map((flag) => ['flag', flag])].map((fact) => [
      ...[...fact, d.state, d.sector],
    ]);
  await same('fact_counts', 'kind, value, state, sector', each(counted));
  const held = (d: Domain): Rows => [
    ...CATEGORIES.map((name) => ['category', name, holderOf(d, name), d.state]),
    ...ROLE_LIST.map((name) => ['role', name, roleHolderOf(d, name), d.state]),
  ];
  await same('holder_counts', 'market_kind, market, holder, state', each(held));
  const days = (name: 'gained' | 'entered' | 'lost' | 'exited' | 'migrated' | 'reclassified') =>
    changeDays.flatMap(({ provider, category, day, ...counts }) => Array(counts[name]).fill([provider, category, day]));
  for (const name of ['gained', 'entered', 'lost', 'exited', 'migrated', 'reclassified'] as const)
    await same('change_days', 'provider, category, day', days(name), name);
  const moved = migrations.map((each) => [each.domainId, each.confirmedAt, each.category, each.from, each.to]);
  // The tables keep older ones for a while.
  const kept = `(SELECT * FROM migrations WHERE confirmed_at >= ${Math.min(...migrations.map((each) => each.confirmedAt), 8.64e15)})`;
  await same(kept, 'domain_id, confirmed_at, category, from_provider, to_provider', moved, '1');
  for (const name of ['scans', 'measured'] as const) {
    const counted = scanDays.flatMap((d) => Array(d[name]).fill([d.day, d.rulebook]));
    await same('scan_days', 'day, rulebook', counted, name);
  }
  const merged = '(SELECT kind, value, groupBitmapXorMergeState(ids) AS merged FROM sets GROUP BY kind, value)';
  await same(merged, 'kind, value, arrayJoin(bitmapToArray(merged)) AS id', each(termsOf), '1');
  const times = `SELECT id, max(scanned_at) AS s, max(first_seen) AS f, if(max(changed_at) >= f, max(changed_at), 0) AS c
    FROM times WHERE id IN (SELECT id FROM names GROUP BY id HAVING sum(n) > 0) GROUP BY id ORDER BY id`;
  const seconds = (ms = 0) => Math.floor(ms / 1_000);
  const expected = all.map((d) => ({ id: d.id, s: d.scannedAt, f: seconds(d.firstSeen), c: seconds(d.changedAt) }));
  assert.deepEqual(await clickhouse.query(times), expected, 'times');
  return [all.length, each(services).length];
}

type Domain = Omit<IndexedDomain, 'services'> & { readonly services: readonly ReturnType<typeof serviceOf>[] };

function serviceOf([category, provider, level, version, platform]: IndexedService, roleOf: RoleOf) {
  const role = roleOf(category, provider) ?? ROLES[category];
  return { category, provider, role, level, version: version ?? '', platform: platform ?? null };
}

const factsOf = (d: Domain): readonly Cell[] => [
  ...[d.id, d.name, d.name.split('.').at(-1) ?? '', d.state, d.sector, d.posture, d.holders],
  ...[d.country?.toLowerCase() ?? '', d.score ?? 255],
];
const providersOf = (d: Domain) => [...new Set(d.services.map(({ provider }) => provider))];
const flagsOf = (d: Domain) => POSTURE_FLAGS.filter((_, bit) => (d.posture >>> bit) % 2 === 1);
const firmIn = (d: Domain, kind: 'category' | 'role', name: string) =>
  d.services.filter((service) => service[kind] === name && service.level !== 'low');
const soleOf = (d: Domain) =>
  providersOf(d).filter((provider) =>
    ROLE_LIST.some(
      (role) =>
        firmIn(d, 'role', role)
          .map((each) => each.provider)
          .join() === provider,
    ),
  );

function measured(d: Domain, category: (typeof CATEGORIES)[number]): string {
  const holder = HOLDERS[Math.floor(d.holders / 8 ** CATEGORIES.indexOf(category)) % 8] ?? '';
  return holder === 'provider' ? 'unmeasured' : holder;
}

const holderOf = (d: Domain, category: (typeof CATEGORIES)[number]) =>
  firmIn(d, 'category', category).length > 0 ? 'provider' : measured(d, category);

function roleHolderOf(d: Domain, role: (typeof ROLE_LIST)[number]): string {
  if (firmIn(d, 'role', role).length > 0) return 'provider';
  const { category } = ROLE_FACTS[role];
  if (ROLES[category] === role) return measured(d, category);
  return holderOf(d, category) === 'unmeasured' ? 'unmeasured' : (HOLDERS.find((name) => /^no/.test(name)) ?? '');
}

function termsOf(d: Domain): Rows {
  const ofService = d.services.flatMap(({ category, provider, role, level }) => [
    ...[`provider|${provider}`, `category|${category}`, `role|${role}`, `level|${level}`],
    ...[`placement|${category} ${provider}`, `category-level|${category} ${level}`],
    ...(level === 'high' ? [] : [`weak|${category} ${provider} ${level}`]),
  ]);
  const [, , tld, state, sector, , , country, score] = factsOf(d);
  const ofFacts = ['all|', `tld|${tld}`, `state|${state}`, `sector|${sector}`, `country|${country}`, `score|${score}`];
  const builds = providersOf(d).flatMap((provider) => {
    const firm = d.services.filter((each) => each.provider === provider && each.level !== 'low');
    const shown = firm
      .filter((each) => each.version !== '')
      .toSorted((a, b) => (a.level < b.level ? -1 : Number(a.level > b.level)));
    const [{ version, platform } = { version: '', platform: null }] = shown;
    return firm.length === 0
      ? []
      : [`build|${[provider, version, ...(platform === null ? [] : [platform])].join('\n')}`];
  });
  const shared = ROLE_LIST.filter((role) => firmIn(d, 'role', role).length > 1).map((role) => `shared|${role}`);
  const flags = flagsOf(d).map((flag) => `flag|${flag}`);
  const terms = new Set([...ofFacts, ...flags, ...ofService, ...builds, ...shared]);
  return [...terms].map((term) => [...term.split('|'), d.id]);
}
