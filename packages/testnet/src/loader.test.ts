import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadedWorld } from './index.ts';

const ENDS_AT = Date.parse('2026-11-21T00:00:00Z');
const YEAR_MS = 365 * 86_400_000;
const options = { domains: 2_000, endsAt: ENDS_AT };

describe('a loaded world', () => {
  const world = loadedWorld(options);
  const domains = [...world.domains()];

  it('is the same for the same seed, and another for another', () => {
    assert.deepEqual([...loadedWorld(options).domains()].slice(0, 50), domains.slice(0, 50));
    assert.deepEqual([...world.domains()].slice(0, 50), domains.slice(0, 50), 'also when it is walked twice');
    const [other] = loadedWorld({ ...options, seed: 'other' }).domains();
    assert.notDeepEqual(other, domains[0]);
  });

  it('has unique names and dense ids, about eight services and two changes a domain', () => {
    assert.equal(new Set(domains.map(({ name }) => name)).size, domains.length);
    assert.deepEqual(
      domains.map(({ id }) => id),
      domains.map((_, i) => i + 1),
    );
    const mean = (numbers: number[]) => numbers.reduce((sum, n) => sum + n, 0) / numbers.length;
    assert.ok(Math.abs(mean(domains.map(({ services }) => services.length)) - 8) < 0.5);
    assert.ok(Math.abs(mean(domains.map(({ changes }) => changes.length)) - 2) < 0.5);
  });

  it('has changes that led to its services: who came is there since then, who went is not', () => {
    for (const { services, changes } of domains) {
      for (const { at, confirmedAt, category, from, to, type } of changes) {
        assert.ok(at > ENDS_AT - YEAR_MS && at < confirmedAt);
        assert.equal(type, from === null ? 'added' : to === null ? 'removed' : 'migrated');
        const held = services.filter((service) => service.category === category);
        if (to !== null) assert.ok(held.some(({ provider, validFrom }) => provider === to && validFrom === at));
        if (from !== null) assert.ok(held.every(({ provider }) => provider !== from));
      }
      const keys = services.map(({ category, provider }) => `${category} ${provider}`);
      assert.equal(new Set(keys).size, keys.length, 'no provider twice in a category');
    }
  });

  it('gives the first provider of a market about twice the domains of the second', () => {
    const count = (id: string) =>
      domains.filter(({ services }) => services.some(({ category, provider }) => category === 'dns' && provider === id))
        .length;
    const [first = '', second = ''] = world.providers
      .filter(({ categories }) => categories.includes('dns'))
      .map(({ id }) => id);
    const ratio = count(first) / count(second);
    assert.ok(ratio > 1.5 && ratio < 2.7, String(ratio));
  });
});
