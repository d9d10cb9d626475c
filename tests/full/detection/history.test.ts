// The history of domains that move on the simulated internet: each migration, and no other.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openScanning, readConfig } from '@strata/stack';
import { createInternet } from '@strata/testnet';
import pino from 'pino';

const HOUR_MS = 3_600_000;

it('the history of domains has the migrations of a moving internet, and no other', async () => {
  let now = Date.parse('2026-03-01T00:00:00Z');
  await using internet = await createInternet({ domains: 60, hasFaults: false });
  const world = { now: () => new Date(now), dial: internet.dial, trustedCa: [internet.caPem] };
  await using scanning = await openScanning(
    { ...readConfig({ STRATA_DATABASE_URL: 'sqlite::memory:' }), resolvers: [internet.resolver] },
    { logger: pino({ level: 'silent' }) },
    { ...world, dnsTryTimeoutMs: 3_000, requestTimeoutMs: 8_000 },
  );
  await scanning.store.domains.add(internet.domains(), { source: 'test' });
  const scan = (...domains: string[]) =>
    scanning.scanner.runAll(domains, {
      onDone: (domain, outcome) => assert.equal(outcome.kind, 'recorded', domain),
      signal: AbortSignal.timeout(60_000),
    });
  const changesOf = async (domain: string) =>
    (await scanning.store.domains.changes(domain, { limit: 50, offset: 0 })).changes;

  const domains = internet.domains().filter((domain) => internet.truth(domain).state === 'active');
  await scan(...domains);
  const known = new Set<string>();
  for (const domain of domains) for (const change of await changesOf(domain)) known.add(change.id);
  const before = new Map(domains.map((domain) => [domain, internet.truth(domain)]));
  const moved = new Set(internet.advance(120).map((migration) => migration.domain));
  assert.ok(moved.size >= 10, 'enough of them moved');
  for (let i = 0; i < 2; i += 1) {
    now += 24 * HOUR_MS;
    await scan(...domains);
  }
  for (const domain of domains) {
    const fresh = (await changesOf(domain)).filter((change) => !known.has(change.id));
    if (!moved.has(domain)) assert.deepEqual(fresh, [], `${domain} did not move`);
    const visible = (category: string, truth = internet.truth(domain)) =>
      truth.services.filter((s) => s.category === category && s.isVisible).map((s) => s.provider);
    for (const category of ['dns', 'email']) {
      const [from] = visible(category, before.get(domain));
      const [to] = visible(category);
      if (from === undefined || to === undefined || from === to) continue;
      const change = fresh.find((each) => each.category === category && each.type === 'migrated');
      assert.deepEqual([change?.from, change?.to], [from, to], `${domain} ${category}`);
    }
  }
});
