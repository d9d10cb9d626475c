// Whether an index is right in itself: every set and every count, worked out again from the columns in the plainest way.
import assert from 'node:assert/strict';
import { CATEGORIES, HOLDERS, POSTURE_FLAGS, SECTORS } from '@strata/detect';
import { compareText } from '../compare-text.ts';
import { type DomainFacts, levelOf, placementOf } from '../domain-columns.ts';
import type { DomainIndex } from '../domain-index.ts';
import type { DomainSet } from '../domain-set.ts';
import { LEVELS, LOW, SCORES, STATES } from '../terms.ts';

interface Service {
  readonly category: number;
  readonly provider: number;
  readonly placement: number;
  readonly level: number;
}
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
  checkNames(index, rows);
  checkServiceSets(index, rows);
  checkFactSets(index, rows);
  checkFactTallies(index, rows);
  checkServiceTallies(index, rows);
  checkBuilds(index, rows);
}

function rowsOf(index: DomainIndex): Row[] {
  const rows: Row[] = [];
  index.names.each((id) => {
    const services = [...index.columns.services(id)].map((service) => {
      const { number, category, provider } = index.vocabulary.placementAt(placementOf(service));
      return { category, provider, placement: number, level: levelOf(service) };
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
  assert.deepEqual([...index.names.order()], sorted);
  const parts = new Set(['.', '-', 'a', 'com', 'ab']);
  for (const { name } of rows.slice(0, 10)) for (const from of [0, 1, 2]) parts.add(name.slice(from, [2, 4, 8][from]));
  for (const part of parts)
    expectSet(`names with ${part}`, index.grams.search(part, index.names), rows, ({ name }) => name.includes(part));
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
  for (const at of LEVELS.keys()) {
    expect(`level ${at}`, sets.level(at), ({ level }) => level === at);
    for (const { number } of vocabulary.placements)
      expect(
        `placement ${number} at ${at}`,
        sets.placement(number, at),
        (s) => s.placement === number && s.level === at,
      );
    for (const number of CATEGORIES.keys())
      expect(
        `category ${number} at ${at}`,
        sets.categoryLevel(number, at),
        (s) => s.category === number && s.level === at,
      );
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
  for (const state of STATES.keys())
    expectSet(`state ${state}`, sets.state(state), rows, ({ facts }) => facts.state === state);
  for (const sector of SECTORS.keys())
    expectSet(`sector ${sector}`, sets.sector(sector), rows, ({ facts }) => facts.sector === sector);
  for (const flag of POSTURE_FLAGS.keys())
    expectSet(`flag ${flag}`, sets.flag(flag), rows, (row) => hasFlag(row, flag));
  for (const score of scores) expectSet(`score ${score}`, sets.score(score), rows, (row) => hasScore(row, score));
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
    for (const role of CATEGORIES.keys()) {
      const found = inState.map((row) => holderOf(row, role));
      for (const [number, holder] of HOLDERS.entries())
        assert.equal(tallies.holders(role, number, [state]), found.filter((each) => each === holder).length);
    }
  }
  assert.equal(tallies.domains([...STATES.keys()]), rows.length);
}

/** What each domain's build numbers say is what the lists of builds say, and none is kept that nobody shows. */
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

const firmIn = ({ services }: Row, category: number) =>
  services.filter((service) => service.category === category && service.level !== LOW);

/** Somebody told holds it; else what the last scan said, unless that is a provider of which nothing is told. */
function holderOf(row: Row, role: number): (typeof HOLDERS)[number] {
  if (firmIn(row, role).length > 0) return 'provider';
  const told = HOLDERS[(row.facts.holders >>> (3 * role)) & 7] ?? 'unmeasured';
  return told === 'provider' ? 'unmeasured' : told;
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
    const sole = own.filter((row) => [...CATEGORIES.keys()].some((category) => isSole(firmIn(row, category))));
    assert.equal(tallies.soleSource(a), sole.length);
  }
  for (const { number, category } of vocabulary.placements) {
    for (const state of [STATES.indexOf('active'), STATES.indexOf('parked')]) {
      const isUser = (row: Row) => firmIn(row, category).some(({ placement }) => placement === number);
      const among = rows.filter((row) => row.facts.state === state && isUser(row));
      const { domains, weight } = tallies.users(number, [state]);
      assert.equal(domains, among.length);
      const expected = among.reduce((sum, row) => sum + 1 / firmIn(row, category).length, 0);
      assert.ok(Math.abs(weight - expected) < 1e-9, `weight of ${number}: ${weight}, ${expected}`);
    }
  }
}

function expectSet(what: string, set: DomainSet, rows: readonly Row[], isMember: (row: Row) => boolean): void {
  const expected = rows.filter(isMember).map(({ id }) => id);
  assert.equal(set.size, expected.length, what);
  assert.deepEqual([...set.toArray()], expected, what);
}
