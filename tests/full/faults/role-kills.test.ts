// Processes in roles, killed at moments of chance while they work: nothing that any of them acknowledged is lost, nothing is doubled.
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openStore } from '@strata/store';
import { createInternet } from '@strata/testnet';
import { postgresServer } from '../../../packages/store/src/test/places.ts';
import { binaries, notice } from '../../../packages/store/src/test/postgres.ts';
import { Fleet } from '../../support/fleet.ts';
import { startLoad } from '../../support/fleet-load.ts';
import { testNodes, until } from '../../support/nodes.ts';

/** Set it to 100 for a long look. */
const KILLS = Number(process.env.STRATA_TEST_KILLS ?? 12);
const DOMAINS = 60;

describe('processes that are killed while they work', { skip: binaries ? false : notice }, () => {
  it('lose nothing that was acknowledged, and double nothing', { timeout: 1_500_000 }, async () => {
    const server = await postgresServer();
    await using internet = await createInternet({ domains: DOMAINS, hasFaults: false });
    const databaseUrl = await server.fresh();
    await using store = await openStore(databaseUrl, { poolSize: 3 });
    const scheduled = internet.domains().slice(0, DOMAINS / 2);
    const asked = internet.domains().slice(DOMAINS / 2);
    await store.addDomains(scheduled, { source: 'test' });
    await using nodes = await testNodes({ databaseUrl, domains: DOMAINS, isApiSeeing: true });
    const fleet = new Fleet(nodes);
    await fleet.startAll();
    await until(
      'all domains are scanned once',
      () => store.counts(),
      ({ scannedDomains }) => scannedDomains >= scheduled.length,
    );

    const load = await startLoad({ fleet, store, asked, freeKeys: KILLS });
    for (let kill = 0; kill < KILLS; kill += 1) {
      // A kill at any moment, but none before clients are answered again after the last one.
      await delay(Math.random() * 500);
      await fleet.killOne();
      await load.goesOn(5);
    }
    await fleet.settled();
    await load.goesOn();
    await load.stop();
    const outcome = await load.check(server, databaseUrl);
    console.log(`${KILLS} kills (${JSON.stringify(fleet.killed)}): ${outcome}`);
  });
});
