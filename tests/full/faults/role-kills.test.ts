// Processes in roles, killed at moments of chance while they work: nothing that any of them acknowledged is lost, nothing is doubled.
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { postgres } from '../../../packages/store/src/test/places.ts';
import { startFleet } from '../../support/fleet.ts';
import { startLoad } from '../../support/fleet-load.ts';
import { randomFrom } from '../../support/random.ts';

/** Set it to 100 for a long look. */
const KILLS = Number(process.env.STRATA_TEST_KILLS ?? 12);

describe('processes that are killed while they work', { skip: postgres.skip }, () => {
  it('lose nothing that was acknowledged, and double nothing', { timeout: 1_500_000 }, async () => {
    await using place = await startFleet(await postgres.fresh());
    const { fleet } = place;
    const load = await startLoad(place, KILLS);
    const random = randomFrom(1);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        // A kill at any moment, but none before clients are answered again after the last one.
        await delay(random() * 500);
        await fleet.killOne();
        await load.goesOn(5);
      }
      await fleet.settled();
      await load.goesOn();
    } finally {
      await load.stop();
    }
    console.log(`${KILLS} kills (${JSON.stringify(fleet.killed)}): ${await load.check()}`);
  });
});
