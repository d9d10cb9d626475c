import assert from 'node:assert/strict';
import { it } from 'node:test';
import { CATEGORIES, HOLDERS, ROLE_LIST, ROLES } from '@strata/detect';
import { fc, holds } from '../../../../tests/support/property.ts';
import type { IndexedDomain } from '../index/domain-index.ts';
import { firmProviders, indexOf, plainDomains, using } from '../test/firms.ts';
import { manyDomains, ownerOf, roleOf } from '../test/random-domains.ts';
import { herfindahl, type Market, market, markets, roleMarket, roleMarkets } from './concentration.ts';

const isClose = (a: number | null, b: number | null) =>
  a === null || b === null ? assert.equal(a, b) : assert.ok(Math.abs(a - b) < 1e-6, `${a} is not ${b}`);

/** HHI with every self-hosted domain as one more firm, of one domain. */
function hhiOf(firms: ReadonlyMap<string, number>, selfHosted: number): number | null {
  const all = [...firms.values(), ...new Array<number>(selfHosted).fill(1)];
  const denominator = all.reduce((sum, weight) => sum + weight, 0);
  return denominator === 0 ? null : all.reduce((sum, weight) => sum + ((100 * weight) / denominator) ** 2, 0);
}

function expectMarket(found: Market, domains: readonly IndexedDomain[], includeParked: boolean): void {
  const { category, role } = found;
  const within = domains.filter(({ state }) => state === 'active' || (includeParked && state === 'parked'));
  const weights = new Map<string, number>();
  const users = new Map<string, number>();
  const held = { provider: 0, self: 0, unknown: 0, unmeasured: 0, nobody: 0 };
  for (const domain of within) {
    const ofCategory = firmProviders(domain, category);
    const firms = role === null ? ofCategory : ofCategory.filter((each) => roleOf(category, each) === role);
    for (const firm of firms) {
      weights.set(firm, (weights.get(firm) ?? 0) + 1 / firms.length);
      users.set(firm, (users.get(firm) ?? 0) + 1);
    }
    const holder = HOLDERS[(domain.holders >>> (CATEGORIES.indexOf(category) * 3)) & 7] ?? 'unmeasured';
    const measured = holder === 'provider' ? 'unmeasured' : holder;
    const isOther = role !== null && role !== ROLES[category] && (ofCategory.length > 0 || measured !== 'unmeasured');
    held[firms.length > 0 ? 'provider' : isOther ? 'nobody' : measured] += 1;
  }
  const denominator = held.provider + held.self;
  const { provider: attributed, self: selfHosted, unknown, unmeasured } = held;
  const counts = { attributed, selfHosted, unknown, unmeasured, denominator, domains: denominator + unknown };
  assert.partialDeepStrictEqual(found, counts);
  assert.equal(found.providers.length, weights.size);
  for (const { provider, domains, weight, share } of found.providers) {
    const expected = weights.get(provider) ?? -1;
    assert.equal(domains, users.get(provider));
    isClose(weight, expected);
    isClose(share, expected / denominator);
  }
  const shares = found.providers.map(({ share }) => share);
  const descending = shares.toSorted((a, b) => b - a);
  assert.deepEqual(shares, descending);
  isClose(found.cr4, denominator === 0 ? null : shares.slice(0, 4).reduce((sum, share) => sum + share, 0));
  isClose(found.hhi, hhiOf(weights, held.self));
  isClose(found.effectiveProviders, found.hhi ? 10_000 / found.hhi : null);
  const owners = new Map<string, number>();
  for (const [firm, weight] of weights) owners.set(ownerOf(firm), (owners.get(ownerOf(firm)) ?? 0) + weight);
  isClose(found.hhiByOwner, hhiOf(owners, held.self));
  assert.ok((found.cr4 ?? 0) <= 1 && (found.hhi ?? 0) <= 10_000 && (found.hhiByOwner ?? 0) <= 10_000);
}

it('a market is counted as a walk over all domains counts it', () =>
  holds(40, [manyDomains(80), fc.boolean()], (domains, includeParked) => {
    const all = markets(indexOf(domains), { includeParked, ownerOf });
    const byRole = roleMarkets(indexOf(domains), { includeParked, ownerOf });
    for (const found of [...all, ...byRole]) expectMarket(found, domains, includeParked);
    assert.equal(new Set(byRole.map(({ role }) => role)).size, ROLE_LIST.length);
    const categories = Array.from(all, ({ category }) => category);
    assert.deepEqual(categories, [...CATEGORIES]);
  }));
it('a market of many providers in each domain is no more concentrated than a monopoly', () => {
  const names = Array.from({ length: 30 }, (_, i) => `service-${i}`);
  const domains = plainDomains([10, using(...names.map((name) => `verified_service ${name} medium`))]);
  const { hhiByOwner } = market(indexOf(domains), 'verified_service', { ownerOf: () => 'one' });
  // The sum of thirtieths is exactly 1.
  isClose(hhiByOwner, 10_000);
  assert.ok((hhiByOwner ?? 0) <= 10_000);
});
it('a service of another role does not hide that the main role was not measured', () => {
  const gateways = (domain: object) => roleMarket(indexOf(plainDomains([1, domain])), 'gateway', { ownerOf });
  for (const domain of [{}, using('email_security fjord high')]) assert.equal(gateways(domain).unmeasured, 1);
});
it('a market has no band below 200 domains, nor with less than half attributed', () => {
  const email = using('email acme high');
  const unknown = { holders: HOLDERS.indexOf('unknown') << (CATEGORIES.indexOf('email') * 3) };
  const band = (known: number, unattributed: number) =>
    market(indexOf(plainDomains([known, email], [unattributed, unknown])), 'email', { ownerOf }).band;
  const few = 'insufficient_data';
  assert.deepEqual([band(199, 0), band(200, 0), band(100, 100), band(100, 101)], [few, 'high', 'high', few]);
});
it('the index of concentration worked out by hand', () => {
  const hhi = (weights: number[], selfHosted = 0) =>
    herfindahl(weights, { denominator: weights.reduce((sum, weight) => sum + weight, selfHosted), selfHosted });
  assert.deepEqual([hhi([]), hhi([7])], [null, 10_000]);
  isClose(hhi([1, 1, 1, 1, 1]), 2_000);
  // The guidelines' example: shares of 30, 30, 20 and 20 percent.
  isClose(hhi([30, 30, 20, 20]), 2_600);
  isClose(hhi([], 1_000), 10);
  isClose(hhi([500], 500), 2_505);
});
