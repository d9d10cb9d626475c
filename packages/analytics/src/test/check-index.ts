// Whether an index is right in itself: every set and every count, worked out again from the columns in the plainest way.
import assert from 'node:assert/strict';
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, ROLE_FACTS, ROLE_LIST, ROLES, SECTORS } from '@strata/detect';
import { type DomainFacts, levelOf, placementOf } from '../columns/domain-columns.ts';
import { countryNumber, LEVELS, LOW, SCORES, STATES } from '../columns/terms.ts';
import { compareText } from '../compare-text.ts';
import type { DomainIndex } from '../index/domain-index.ts';
import type { DomainSet } from '../sets/domain-set.ts';

type Service = Readonly<Record<'category' | 'role' | 'provider' | 'placement' | 'level', number>>;
interface Row {
  readonly id: number;
  readonly name: string;
  readonly facts: DomainFacts;
  readonly builds: readonly number[];
  readonly services: readonly Service[];
}

/** Throws when anything in the index is not what its columns say. */
export function checkIndex(index: DomainIndex): void {
  const rows = rowsOf(index);
  const checks = [checkNames, checkServiceSets, checkFactSets, checkFactTallies, checkServiceTallies, checkBuilds];
  for (const check of checks) check(index, rows);
}

function rowsOf(index: DomainIndex): Row[] {
  const rows: Row[] = [];
  index.names.each((id) => {
    const services = [...index.columns.services(id)].map((service) => {
      const { number, category, role, provider } = index.vocabulary.placementAt(placementOf(service));
      return { category, role, provider, placement: number, level: levelOf(service) };
    });
    const { pool, from, to } = index.columns.buildsIn(id);
    const builds = [...pool.subarray(from, to)];
    rows.push({ id, name: index.names.name(id), facts: index.columns.facts(id), builds, services });
  });
  return rows;
}

function checkNames(index: DomainIndex, rows: readonly Row[]): void {
  assert.equal(index.size, rows.length);
  const sorted = rows.toSorted((a, b) => compareText(a.name, b.name)).map(({ id }) => id);
  assert.deepEqual([...index.names.sorted.numbers()], sorted);
  const parts = new Set(['.', '-', 'a', 'com', 'ab']);
  for (const { name } of rows.slice(0, 10)) for (const from of [0, 1, 2]) parts.add(name.slice(from, [2, 4, 8][from]));
  // The last search is kept, and asked again after the next changes.
  for (const part of ['a com', ...parts, 'a com'])
    expectSet(`names with ${part}`, index.grams.search(part, index.names, index.tlds), rows, ({ name }) =>
      part.split(' ').every((word) => name.includes(word)),
    );
  for (const tld of ['de', ...index.tlds.words()])
    expectSet(`names in .${tld}`, index.tlds.domains(tld), rows, ({ name }) => name.endsWith(`.${tld}`));
}

function checkServiceSets({ sets, vocabulary }: DomainIndex, rows: readonly Row[]): void {
  const expect = (what: string, set: DomainSet, isSo: (service: Service) => boolean) =>
    expectSet(what, set, rows, uses(isSo));
  for (let id = 0; id < vocabulary.providers.size; id += 1)
    expect(`provider ${id}`, sets.provider(id), ({ provider }) => provider === id);
  for (const { number } of vocabulary.placements)
    expect(`placement ${number}`, sets.placement(number), ({ placement }) => placement === number);
  for (const number of CATEGORIES.keys())
    expect(`category ${number}`, sets.category(number), ({ category }) => category === number);
  for (const number of ROLE_LIST.keys()) expect(`role ${number}`, sets.role(number), ({ role }) => role === number);
  for (const at of LEVELS.keys()) {
    const expectAt = (what: string, set: DomainSet, isSo: (service: Service) => boolean) =>
      expect(`${what} at ${at}`, set, (service) => service.level === at && isSo(service));
    expectAt('any', sets.level(at), () => true);
    for (const { number } of vocabulary.placements)
      expectAt(`placement ${number}`, sets.placement(number, at), ({ placement }) => placement === number);
    for (const number of CATEGORIES.keys())
      expectAt(`category ${number}`, sets.categoryLevel(number, at), ({ category }) => category === number);
  }
}

const uses =
  (isSo: (service: Service) => boolean) =>
  ({ services }: Row) =>
    services.some(isSo);

const hasFlag = ({ facts }: Row, flag: number) => ((facts.posture >>> flag) & 1) === 1;
const hasScore = ({ facts }: Row, score: number) => (facts.score ?? SCORES - 1) === score;
const scores = Array.from({ length: SCORES }, (_, score) => score);

function checkFactSets({ sets }: DomainIndex, rows: readonly Row[]): void {
  type Fact = 'state' | 'sector' | 'flag' | 'score' | 'country';
  const expectEach = (what: Fact, values: Iterable<number>, isSo: (row: Row, value: number) => boolean) => {
    for (const value of values) expectSet(`${what} ${value}`, sets[what](value), rows, (row) => isSo(row, value));
  };
  expectEach('state', STATES.keys(), ({ facts }, state) => facts.state === state);
  expectEach('sector', SECTORS.keys(), ({ facts }, sector) => facts.sector === sector);
  expectEach('flag', POSTURE_FLAGS.keys(), hasFlag);
  expectEach('score', scores, hasScore);
  expectEach(
    'country',
    [0, countryNumber('DE'), countryNumber('US')],
    ({ facts }, country) => facts.country === country,
  );
}

function checkFactTallies({ tallies }: DomainIndex, rows: readonly Row[]): void {
  for (const state of STATES.keys()) {
    const inState = rows.filter(({ facts }) => facts.state === state);
    for (const sector of [undefined, ...SECTORS.keys()]) {
      const among = inState.filter(({ facts }) => (sector ?? facts.sector) === facts.sector);
      assert.equal(tallies.domains([state], sector), among.length);
      for (const flag of POSTURE_FLAGS.keys())
        assert.equal(tallies.flag(flag, [state], sector), among.filter((row) => hasFlag(row, flag)).length);
      for (const score of scores)
        assert.equal(tallies.score(score, [state], sector), among.filter((row) => hasScore(row, score)).length);
    }
    for (const [number, holder] of HOLDERS.entries()) {
      for (const category of CATEGORIES.keys()) {
        const found = inState.filter((row) => holderOf(row, category) === holder);
        assert.equal(tallies.categories.holders(category, number, [state]), found.length);
      }
      for (const role of ROLE_LIST.keys()) {
        const found = inState.filter((row) => roleHolderOf(row, role) === holder);
        assert.equal(tallies.roles.holders(role, number, [state]), found.length);
      }
    }
  }
  assert.equal(tallies.domains([...STATES.keys()]), rows.length);
}

/** The build numbers of the domains agree with the lists of builds, and every stored build has a domain. */
function checkBuilds(index: DomainIndex, rows: readonly Row[]): void {
  const { builds, vocabulary } = index;
  const shown = new Set(rows.flatMap((row) => row.builds));
  assert.equal(builds.size, shown.size);
  assert.equal(builds.words().filter((word) => word !== null).length, shown.size);
  for (const number of shown)
    expectSet(`build ${number}`, builds.domains(number), rows, (row) => row.builds.includes(number));
  for (const [provider, id] of vocabulary.providers.words().entries()) {
    const numbers = [...shown].filter((number) => builds.word(number)[0] === provider);
    assert.deepEqual([...builds.of(provider)].sort(), numbers.sort());
    assert.ok(index.buildsOf(id).every(({ domains }) => domains.size > 0));
    for (const row of rows)
      assert.ok(numbers.filter((number) => row.builds.includes(number)).length <= 1, 'one build of a provider');
  }
}

type Kind = 'category' | 'role';
const firmIn = ({ services }: Row, number: number, kind: Kind = 'category') =>
  services.filter((service) => service[kind] === number && service.level !== LOW);

/** The provider that a confident service names; otherwise the last scan's holder. */
const holderOf = (row: Row, category: number): (typeof HOLDERS)[number] =>
  firmIn(row, category).length > 0 ? 'provider' : measuredHolder(row, category);

function measuredHolder(row: Row, category: number): (typeof HOLDERS)[number] {
  const holder = HOLDERS[(row.facts.holders >>> (3 * category)) & 7] ?? 'unmeasured';
  return holder === 'provider' ? 'unmeasured' : holder;
}

/** The last scan's holder is that of the main role, whatever else is used: another role of a measured category has none. */
function roleHolderOf(row: Row, number: number): (typeof HOLDERS)[number] {
  if (firmIn(row, number, 'role').length > 0) return 'provider';
  const role = ROLE_LIST[number] ?? 'dns';
  const { category } = ROLE_FACTS[role];
  const at = CATEGORIES.indexOf(category);
  if (ROLES[category] === role) return measuredHolder(row, at);
  return holderOf(row, at) === 'unmeasured' ? 'unmeasured' : 'nobody';
}

function checkServiceTallies({ tallies, vocabulary }: DomainIndex, rows: readonly Row[]): void {
  assert.equal(tallies.services, rows.flatMap(({ services }) => services).length);
  for (let a = 0; a < vocabulary.providers.size; a += 1) {
    const own = rows.filter(uses((service) => service.provider === a));
    for (let b = 0; b < vocabulary.providers.size; b += 1) {
      if (a === b) continue;
      assert.equal(tallies.together(a, b), own.filter(uses((service) => service.provider === b)).length);
    }
    const isSole = (firm: readonly Service[]) => firm.length === 1 && firm[0]?.provider === a;
    const sole = own.filter((row) => [...ROLE_LIST.keys()].some((role) => isSole(firmIn(row, role, 'role'))));
    assert.equal(tallies.soleSource(a), sole.length);
  }
  for (const { number, category, role } of vocabulary.placements) {
    const users = rows.filter((row) => firmIn(row, category).some(({ placement }) => placement === number));
    for (const state of [STATES.indexOf('active'), STATES.indexOf('parked')]) {
      const among = users.filter(({ facts }) => facts.state === state);
      for (const [counts, market, kind] of [
        [tallies.categories, category, 'category'],
        [tallies.roles, role, 'role'],
      ] as const) {
        const expected = among.reduce((sum, row) => sum + 1 / firmIn(row, market, kind).length, 0);
        const { domains, weight } = counts.users(number, [state]);
        assert.deepEqual([domains, weight.toFixed(8)], [among.length, expected.toFixed(8)], `users of ${number}`);
      }
    }
  }
}

function expectSet(what: string, set: DomainSet, rows: readonly Row[], isMember: (row: Row) => boolean): void {
  const expected = rows.filter(isMember).map(({ id }) => id);
  assert.equal(set.size, expected.length, what);
  assert.deepEqual([...set.toArray()], expected, what);
}
