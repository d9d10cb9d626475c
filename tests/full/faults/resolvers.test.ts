// What becomes of the collection when the resolvers are dead in several ways: no provider ends, domains are postponed
// and retried, the metrics show it, and scanning recovers by itself.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openStore } from '@strata/stack/store';
import { createInternet } from '@strata/testnet';
import { postgres, rows as rowsIn } from '../../../services/stack/src/store/test/backends.ts';
import { type ResolverState, startBadResolver } from '../../support/bad-resolver.ts';
import { get } from '../../support/node-answers.ts';
import { type TestNode, testNodes } from '../../support/nodes.ts';
import { untilAnswer } from '../../support/until.ts';

const DOMAINS = 16;
/** Scans a few seconds apart, two equal ones confirm a change: a wrong change would appear at once. */
const HASTY = { STRATA_RESCAN_HOURS: '0.001', STRATA_CONFIRM_AFTER_HOURS: '0.0002', STRATA_ON_DEMAND_PER_HOUR: '1000' };
const DEAD: readonly ResolverState[] = ['stopped', 'silent', 'refuses', 'fails', 'nxdomain'];

/** Scans so far by how they ended, and tries without an answer. */
async function figuresOf({ metricsBase }: TestNode) {
  const text = await (await fetch(`${metricsBase}/metrics`)).text();
  const scans = (outcome: string) =>
    Number(new RegExp(`^strata_scan_seconds_count\\{outcome="${outcome}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const timeouts = Number(/^strata_dns_timeouts (\d+)/m.exec(text)?.[1] ?? 0);
  return { unmeasured: scans('unmeasured'), recorded: scans('recorded'), timeouts };
}

describe('a collection whose resolvers are dead', { skip: postgres.skip }, () => {
  it('ends no provider, postpones domains, reports it, and recovers by itself', { timeout: 900_000 }, async () => {
    await using internet = await createInternet({ domains: DOMAINS, hasFaults: false });
    const databaseUrl = await postgres.fresh();
    await using store = await openStore(databaseUrl, { poolSize: 3 });
    const { key } = await store.keys.create({ tier: 'unlimited' });
    const listed = internet.domains().slice(0, DOMAINS - 1);
    const unknown = internet.domains().at(-1) ?? '';
    await store.domains.add(listed, { source: 'test' });
    await using resolver = await startBadResolver(internet.resolver);
    await using nodes = await testNodes({ databaseUrl, domains: DOMAINS, canApiScan: true });
    const settings = { ...HASTY, STRATA_RESOLVERS: resolver.address };
    const [scanner, api] = await Promise.all([nodes.start('scanner', settings), nodes.start('api', settings)]);
    /** By domain: its services, and the number of consecutive failed scans. */
    const known = async () => {
      const stored = await Promise.all(listed.map((name) => store.domains.profile(name)));
      const services = stored.map((domain) =>
        (domain?.services ?? []).map(({ provider, category }) => `${category} ${provider}`).sort(),
      );
      return {
        services,
        rows: await rowsIn(databaseUrl, 'select failures, next_due_at, last_scanned_at from domains'),
      };
    };
    const scans = async () => Number((await rowsIn(databaseUrl, 'select count(*) as n from scans'))[0]?.n);
    await untilAnswer('each is scanned twice', scans, (count) => count >= 2 * listed.length);
    const before = await known();
    assert.ok(before.services.filter(({ length }) => length > 0).length >= listed.length - 2);

    let failures = 0;
    for (const state of DEAD) {
      const figures = await figuresOf(scanner);
      await resolver.become(state);
      failures = Math.max(...(await known()).rows.map((row) => Number(row.failures)));
      const { services, rows } = await untilAnswer(`each scan failed: ${state}`, known, ({ rows }) =>
        rows.every((row) => Number(row.failures) > failures),
      );
      assert.deepEqual(services, before.services, `${state}: what was known is kept`);
      for (const { next_due_at, last_scanned_at } of rows)
        assert.ok(Number(next_due_at) > Number(last_scanned_at), 'it is put off, not asked again at once');
      const shown = await figuresOf(scanner);
      assert.ok(
        shown.unmeasured >= figures.unmeasured + listed.length,
        `${state}: ${JSON.stringify([figures, shown])}`,
      );
      if (state === 'silent') assert.ok(shown.timeouts > figures.timeouts);
      const asked = await get(api, `/stack/v1/domains/${unknown}`, key);
      // Without any answer it takes longer than a request waits; the name is never reported as nonexistent.
      const isOpen = asked.status === 503 || (state === 'silent' && /is being scanned/.test(asked.text));
      assert.ok(isOpen, `${state}: ${asked.text}`);
      assert.equal((await get(api, `/stack/v1/domains/${listed[0]}`, key)).status, 200);
      assert.equal((await fetch(`${scanner.base}/ready`)).status, 200, 'a restart would fix nothing');
    }

    await resolver.become('ok');
    const { services } = await untilAnswer('each is found again', known, ({ rows }) =>
      rows.every((row) => Number(row.failures) === 0),
    );
    assert.deepEqual(services, before.services);
    const ask = () => get(api, `/stack/v1/domains/${unknown}`, key);
    await untilAnswer('it is scanned when it is asked for', ask, ({ status }) => status === 200);
    assert.deepEqual(await rowsIn(databaseUrl, 'select * from changes'), [], 'nothing has changed');
    console.log(`${await scans()} scans, up to ${failures} consecutive failures`);
  });
});
