// Time to first token with our choice of a worker and with known policies, in simulated time; bench/network/routing.ts measures more of it.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { POLICIES } from '../../../bench/network/policies.ts';
import { type FleetOptions, simulateFleet } from '../../../bench/network/simulated-fleet.ts';

type PolicyName = keyof typeof POLICIES;
type Worlds = Omit<FleetOptions, 'seed'> & { readonly seeds: readonly number[] };

function slowestHundredth(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  assert.ok(sorted.length > 500, `${sorted.length} requests are few`);
  return sorted[Math.floor(sorted.length * 0.99)] as number;
}

/** Over some worlds, each of a seed of its own: of few workers, one alone is a matter of luck. */
function p99(name: PolicyName, { seeds, ...world }: Worlds): number {
  return slowestHundredth(seeds.flatMap((seed) => simulateFleet(POLICIES[name], { ...world, seed }).firstTokenMs));
}

/** How many times as long the slowest hundredth waits for its first token with another policy. */
const factor = (other: PolicyName, worlds: Worlds) => p99(other, worlds) / p99('ours', worlds);

for (const [workers, seconds, seeds, blind, leastLoaded] of [
  [10, 600, [1, 2, 3], 10, 1.3],
  [100, 120, [1], 8, 2.2],
  [1_000, 20, [1], 3, 2],
] as const)
  it(`the choice of a worker keeps the slowest hundredth of first tokens short with ${workers} workers`, () => {
    const world = { workers, seconds, seeds };
    const ours = p99('ours', world);
    for (const [other, min] of Object.entries({ random: blind, 'round-robin': blind, 'least-loaded': leastLoaded })) {
      const times = p99(other as PolicyName, world) / ours;
      assert.ok(times >= min, `${other}: ${times}`);
    }
  });
it('the choice of a worker is no worse where no conversation goes on, where workers die often, and where load is low or high', () => {
  const world = { workers: 50, seconds: 200, seeds: [3] };
  for (const harder of [{ continued: 0 }, { workerLifeSeconds: 30 }, { load: 0.3 }, { load: 0.9 }]) {
    const leastLoaded = factor('least-loaded', { ...world, ...harder });
    assert.ok(leastLoaded > 1, `${JSON.stringify(harder)}: ${leastLoaded}`);
  }
});
it('the choice of a worker returns conversations to where they were read', () => {
  const world = { workers: 50, seconds: 120, seed: 4 };
  const ours = simulateFleet(POLICIES.ours, world).cachedShare;
  const other = simulateFleet(POLICIES['least-loaded'], world).cachedShare;
  assert.ok(ours > 1.5 * other, `${ours} against ${other}`);
});
it('the choice of a worker is the same in each run', () => {
  const world = { workers: 10, seconds: 60, seed: 5 };
  assert.deepEqual(simulateFleet(POLICIES.ours, world), simulateFleet(POLICIES.ours, world));
});
