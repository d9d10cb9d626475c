// The routes with ClickHouse: their answers are those of memory; while it is away they refuse, and profiles go on.
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { createInternet } from '@strata/testnet';
import { missingChdb } from '../../../../tests/support/clickhouse/missing-chdb.ts';
import { until } from '../../../../tests/support/until.ts';
import { POPULATION_MAX_STALE_MS } from '../routes/query-parameter.ts';
import { type Harness, startHarness } from '../test/harness.ts';
import { DAY_MS } from '../test/timeline.ts';

const QUERY = 'query=email:google-workspace';
const SETS = [
  ...['search', 'search?limit=5&sort=-score&facets=dns,grade', `search?${QUERY}`, 'stats', 'enrichment/status'],
  ...['stats/providers', 'stats/migrations?days=30', `stats/migrations?days=30&${QUERY}`, 'security/export.csv'],
  'providers/google-workspace',
  ...['market-share', 'market-share?category=email', `market-share?${QUERY}`].map((each) => `intelligence/${each}`),
  ...['supply-chain/cloudflare', 'adoption/google-workspace'].map((each) => `intelligence/${each}`),
  ...['security-scorecard', `security-scorecard?${QUERY}`].map((each) => `intelligence/${each}`),
].map((each) => `/stack/v1/${each}`);

/** Without receipts. */
async function answersOf(service: Harness): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const route of SETS) {
    const { status, body, text } = await service.get(route);
    const { provenance, ...facts } = body;
    answers.push([route, status, provenance ? facts : text]);
  }
  return answers;
}

/** ClickHouse has every event of the store. */
async function exported({ running }: Harness): Promise<void> {
  const { analytics, store } = running.app;
  const latest = await store.events.latestSeq();
  await until(async () => (await analytics.asOf().catch(() => undefined))?.seq === latest);
  // Reads the figures that are kept.
  await running.updateLoop.run();
}

it('with ClickHouse the routes answer as with memory, refuse while it is away, and catch up', {
  skip: missingChdb,
}, async () => {
  await using internet = await createInternet({ domains: 60, hasFaults: false });
  let now = Date.now() - 20 * DAY_MS;
  let monotonicMs = 0;
  const world = { now: () => new Date(now), monotonicNow: () => monotonicMs };
  await using service = await startHarness({ internet, world });
  const near = { STRATA_ANALYTICS_URL: `chdb:${path.join(service.directory, 'clickhouse')}` };
  const liveOn = async () => {
    const moved = [...new Set(internet.advance(100).map(({ domain }) => domain))];
    for (const days of [3, 0.5]) {
      now += days * DAY_MS;
      await service.scan(...moved);
    }
    await service.running.updateLoop.run();
  };
  await service.scan(...internet.domains());
  await liveOn();
  const first = await answersOf(service);
  await service.restart(near);
  await exported(service);
  assert.deepEqual(await answersOf(service), first);
  // The port of discard: no server listens there.
  await service.restart({ STRATA_ANALYTICS_URL: 'http://127.0.0.1:9/strata' });
  await liveOn();
  for (const route of SETS) {
    const { status, headers, body } = await service.get(route);
    assert.deepEqual([route, status, headers.get('retry-after')], [route, 503, '30']);
    assert.match(body.detail ?? '', /^Questions about sets .*: ClickHouse does not respond\. Try again later\.$/);
  }
  assert.equal((await service.get(`/stack/v1/domains/${internet.domains()[0]}`)).status, 200);
  await service.restart(near);
  const asOf = async () => {
    monotonicMs += 1_000;
    return (await service.get('/stack/v1/stats')).headers.get('stack-as-of-event');
  };
  await until(async () => (await asOf()) !== null);
  await liveOn();
  // Cached as far as ClickHouse has the events: outdated when it has them all.
  await answersOf(service);
  await exported(service);
  const latest = String(await service.running.app.store.events.latestSeq());
  await until(async () => (await asOf()) === latest, { intervalMs: 200 });
  monotonicMs += POPULATION_MAX_STALE_MS;
  const last = await answersOf(service);
  await service.restart();
  assert.deepEqual(last, await answersOf(service));
});
