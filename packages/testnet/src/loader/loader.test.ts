import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type LoadedService, loadedWorld } from '../index.ts';

const ENDS_AT = Date.parse('2026-11-21T00:00:00Z');
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const options = { domains: 2_000, endsAt: ENDS_AT };

describe('a loaded world', () => {
  const world = loadedWorld(options);
  const domains = [...world.domains()];

  it('is the same for the same seed, and another for another', () => {
    assert.deepEqual([...loadedWorld(options).domains()].slice(0, 50), domains.slice(0, 50));
    assert.deepEqual([...world.domains()].slice(0, 50), domains.slice(0, 50), 'also when it is walked twice');
    assert.notDeepEqual([...loadedWorld({ ...options, seed: 'other' }).domains()][0], domains[0]);
  });
  it('has unique names and dense ids, about eight services and two changes a domain', () => {
    assert.equal(new Set(domains.map(({ name }) => name)).size, domains.length);
    for (const [i, { id }] of domains.entries()) assert.equal(id, i + 1);
    const mean = (of: 'services' | 'changes') =>
      domains.reduce((sum, domain) => sum + domain[of].length, 0) / domains.length;
    assert.ok(Math.abs(mean('services') - 8) < 0.5 && Math.abs(mean('changes') - 2) < 0.5);
  });
  it('lists entries and exits with their dates, as for a domain observed from the start', () => {
    for (const { services, changes } of domains) {
      const came = new Set(changes.map(({ category, to }) => `${category} ${to}`));
      const went = changes.flatMap(({ category, from }) => (from === null ? [] : [`${category} ${from}`]));
      const uses = new Set([...keysOf(services).filter((key) => !came.has(key)), ...went]);
      const providers = () => new Set([...uses].map((key) => key.split(' ')[1]));
      for (const { category, from, to, isEntry, isExit, at, confirmedAt, type } of changes) {
        const before = providers();
        if (from !== null) assert.ok(uses.delete(`${category} ${from}`), 'who goes was there');
        if (to !== null) uses.add(`${category} ${to}`);
        const isHeldSince = ({ provider, validFrom, ...service }: LoadedService) =>
          service.category === category && provider === to && validFrom === at;
        assert.ok(to === null || services.some(isHeldSince));
        assert.ok(at > ENDS_AT - YEAR_MS && at < confirmedAt);
        assert.equal(type, from === null ? 'added' : to === null ? 'removed' : 'migrated');
        assert.equal(isEntry, to !== null && !before.has(to));
        assert.equal(isExit, from !== null && !providers().has(from));
      }
      assert.deepEqual([...uses].sort(), keysOf(services).sort(), 'they lead to the services of today, each once');
    }
    const entries = domains.flatMap(({ changes }) => changes.filter(({ to, isEntry }) => to !== null && !isEntry));
    assert.ok(entries.length > 0, 'some provider came that was there already');
  });
  it('was scanned on each day, last when all its changes were confirmed', () => {
    const dayOf = (time: number) => Math.floor(time / DAY_MS);
    const days = new Set(domains.flatMap((each) => [dayOf(each.earlierScanAt), dayOf(each.scannedAt)]));
    for (let day = dayOf(ENDS_AT - YEAR_MS) + 1; day < dayOf(ENDS_AT); day += 1) assert.ok(days.has(day), String(day));
    for (const { scannedAt, changes } of domains)
      assert.ok(scannedAt <= ENDS_AT && changes.every(({ confirmedAt }) => confirmedAt <= scannedAt));
  });
  it('gives the first provider of a market about twice the domains of the second', () => {
    const uses = domains.flatMap(({ services }) => keysOf(services));
    const market = world.providers.filter(({ categories }) => categories.includes('dns'));
    const [first = 0, second = 0] = market.map(({ id }) => uses.filter((key) => key === `dns ${id}`).length);
    const ratio = first / second;
    assert.ok(ratio > 1.5 && ratio < 2.7, String(ratio));
  });
});

const keysOf = (services: readonly LoadedService[]) =>
  services.map(({ category, provider }) => `${category} ${provider}`);
