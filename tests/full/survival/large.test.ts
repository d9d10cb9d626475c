// The large size under load: it goes on after kills of each of its processes, of what writes and of what answers, and has the same as
// its store. The kills rarely come between the statements of a block: services/stack/src/analytics/export.full.test.ts has those.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { clickHouseAnalytics, openClickHouse } from '@strata/analytics-clickhouse';
import { openStore } from '@strata/stack/store';
import { Exporting } from '../../../services/stack/src/analytics/exporting.ts';
import { checkTables } from '../../../services/stack/src/analytics/test/check-tables.ts';
import { postgres } from '../../../services/stack/src/store/test/backends.ts';
import { missingChdb } from '../../support/clickhouse/missing-chdb.ts';
import { startClickHouseServer } from '../../support/clickhouse/server.ts';
import { startFleet } from '../../support/fleet.ts';
import { startLoad } from '../../support/fleet-load.ts';
import { randomFrom, until } from '../../support/index.ts';
import { working } from '../../support/nodes.ts';
import { rulebook } from '../../support/rulebook.ts';

const ROUNDS = 2;
const ROLES = ['api', 'api', 'scanner', 'scheduler'] as const;

it('under load, kills of exporter, writer, scanner and ClickHouse lose and double nothing', {
  skip: postgres.skip || missingChdb,
  timeout: 900_000,
}, async (t) => {
  await using server = await startClickHouseServer();
  const own = () => ({ STRATA_ANALYTICS_URL: server.url });
  await using target = await startFleet(await postgres.fresh(), { own, roles: ROLES });
  await using store = await openStore(target.databaseUrl, { poolSize: 1 });
  await using clickhouse = await openClickHouse(server.url);
  const analytics = clickHouseAnalytics(clickhouse);
  const { fleet } = target;
  const load = await startLoad(target);
  const random = randomFrom(9);
  const kills: Record<string, () => Promise<void>> = {
    exporter: async () => fleet.kill(await working(fleet.all('scheduler'))),
    writer: () => fleet.kill(fleet.all('api')[0]),
    scanner: () => fleet.kill(fleet.all('scanner')[0]),
    async clickhouse() {
      await server.kill();
      await load.goesOn(5);
      await server.start();
    },
  };
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const kill of Object.values(kills)) {
        await delay(random() * 1_000);
        await kill();
      }
      await load.goesOn();
      await fleet.settled();
      // It catches up while scanners go on.
      const seq = await store.events.latestSeq();
      const hasAll = async () => ((await analytics.asOf().catch(() => undefined))?.seq ?? 0) >= seq;
      await until(hasAll, { intervalMs: 100, limitMs: 300_000 });
    }
    // A slow machine has scanned few by then.
    const domains = async () => (await analytics.search({ filter: {}, limit: 0, offset: 0 })).total;
    await until(async () => (await domains()) > 50, { intervalMs: 100, limitMs: 300_000 });
  } finally {
    await load.stop();
  }
  t.diagnostic(await load.check());
  await Promise.all(fleet.all().map((node) => node.stop()));
  await new Exporting({ store, clickhouse, rulebook }).runOnce(new AbortController().signal, () => {});
  const [domains, services] = await checkTables(clickhouse, store, rulebook.roleOf);
  t.diagnostic(`${domains} domains and ${services} services at event ${await store.events.latestSeq()}`);
  assert.ok(domains > 50, `${domains} domains`);
});
