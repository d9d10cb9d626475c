// Answers on advisories: counts, lists, filters and pages. Their order: packages/advisories; their schemas and receipts: tests/smoke.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import { type Affected, questionsTo, sharedAdvisories, showing } from '../test/advisories.ts';
import { assertDescribed } from '../test/described.ts';
import type { Harness } from '../test/harness.ts';
import { sharedService } from '../test/shared.ts';

const SEVERITIES = ['low', 'medium', 'high', 'critical'];

let service: Harness;
let internet: Internet;
const { get, affected, advisories, openOf } = questionsTo(() => service);
const withPhp = () => showing(internet, 'php')[0] ?? assert.fail();

/** Domains by version, and those by product alone. */
function countsOf(rows: readonly Affected[]) {
  const of = (kind: string) => new Set(rows.filter(({ match }) => match === kind).map(({ domain }) => domain));
  const version = of('version');
  return { version, counts: { version: version.size, product: of('product').difference(version).size } };
}

describe('before any source was read', () => {
  before(async () => {
    service = await sharedService();
    ({ internet } = await sharedService());
  });

  it('nothing is known, and nothing is called safe', async () => {
    const risk = await get(`intelligence/risk/${withPhp()}`);
    const { factors } = risk.security as { factors: { factor: string; weight: number; risk: number | null }[] };
    const factor = factors.find((each) => each.factor === 'known_vulnerabilities');
    assert.deepEqual([risk.advisories, factor?.weight, factor?.risk], [null, 0.15, null]);
    assert.deepEqual([await openOf(`domains/${withPhp()}`), await openOf('providers/php')], [null, null]);
    const { advisories: counts, sources, coverage } = await get('enrichment/status');
    assert.equal((counts as Record<string, unknown>).total, 0);
    const states = (sources as Record<string, unknown>[]).map((each) => [each.source, each.state, each.last_sync]);
    assert.deepEqual(
      states,
      ['kev', 'epss', 'nvd', 'osv', 'cve'].map((name) => [name, 'off', null]),
    );
    const { domains } = coverage as { domains: { total: number; with_product: number; with_version: number } };
    assert.equal(domains.total, internet.domains().length);
    assert.ok(domains.with_version > 0 && domains.with_version < domains.with_product);
    assert.deepEqual([await affected(), await advisories()], [[], []]);
  });
});

describe('advisories', () => {
  before(async () => {
    const advisories = await sharedAdvisories();
    ({ service, internet } = advisories);
    advisories.age();
  });

  it('are published at once where a profile had nothing known, and are as they are described', async () => {
    const all = await affected(`&domain=${withPhp()}`);
    // An advisory of several products of a domain is counted once.
    const rows = all.filter(({ id }, i) => i === all.findIndex((row) => row.id === id));
    const versions = rows.filter(({ match }) => match === 'version');
    for (const path of ['domains', 'intelligence/risk']) {
      const open = await openOf(`${path}/${withPhp()}`);
      assertDescribed(`/stack/v1/${path}/{domain}`, await get(`${path}/${withPhp()}`));
      assert.deepEqual([open.version, open.product], [versions.length, rows.length - versions.length]);
      assert.equal(open.known_exploited, versions.filter((row) => row.known_exploited).length);
      for (const severity of SEVERITIES)
        assert.equal(open.by_severity[severity], versions.filter((row) => row.severity === severity).length);
      const { domain: _, ...first } = versions[0] ?? rows[0] ?? assert.fail();
      assert.deepEqual(open.top[0], first);
      assert.ok(open.top.length <= 10);
    }
    for (const name of ['status', 'advisories', 'affected'])
      assertDescribed(`/stack/v1/enrichment/${name}`, await get(`enrichment/${name}`));
    assertDescribed('/stack/v1/providers/{provider}', await get('providers/php'));
  });

  it('are those of the rows, in their order, with their domains counted apart', async () => {
    const rows = await affected();
    const all = await advisories();
    assert.ok(all.length > 20);
    const ids = [...new Set(rows.map(({ id }) => id))];
    assert.deepEqual(
      all.map(({ id }) => id),
      ids,
    );
    for (const { id, match, domains, affected: names } of all) {
      const { version, counts } = countsOf(rows.filter((row) => row.id === id));
      assert.deepEqual([domains, match], [counts, version.size > 0 ? 'version' : 'product'], id);
      const named = [...new Set(names as string[])].filter((domain) => version.has(domain)).sort();
      assert.deepEqual([names, named.length], [named, Math.min(10, version.size)]);
    }
  });

  it('page without a gap or a repetition, whatever the size', async () => {
    for (const [path, list] of [
      ['enrichment/affected?', 'affected'],
      ['enrichment/advisories?', 'advisories'],
      [`enrichment/affected?domain=${withPhp()}&`, 'affected'],
      ['enrichment/affected?severity=high&match=product&', 'affected'],
    ] as const) {
      const all = await get(`${path}limit=1000&offset=0`);
      const total = all.total as number;
      assert.equal((all[list] as unknown[]).length, total);
      for (const limit of [33, 101]) {
        const found: unknown[] = [];
        for (let offset = 0; offset < total + limit; offset += limit) {
          const page = await get(`${path}limit=${limit}&offset=${offset}`);
          assert.equal(page.total, total);
          found.push(...(page[list] as unknown[]));
        }
        assert.deepEqual(found, all[list], `${path} by ${limit}`);
      }
    }
  });

  it('are filtered by everything at once, and counted so', async () => {
    const all = await affected();
    for (const domain of [undefined, withPhp()])
      for (const severity of [undefined, 'critical', 'medium'])
        for (const match of [undefined, 'version', 'product'])
          for (const id of [undefined, all[0]?.id]) {
            const filter = Object.entries({ domain, severity, match, id }).filter(([, value]) => value);
            const expected = all.filter((row) => filter.every(([name, value]) => row[name] === value));
            const query = filter.map(([name, value]) => `&${name === 'id' ? 'advisory' : name}=${value}`).join('');
            const body = await get(`enrichment/affected?limit=1000${query}`);
            assert.deepEqual([body.affected, body.total], [expected, expected.length], query);
            assert.deepEqual(body.domains, countsOf(expected).counts);
          }
  });

  it('are found by severity in any case, and by any id in any case', async () => {
    for (const severity of SEVERITIES) {
      const expected = await advisories(`&severity=${severity}`);
      assert.ok(expected.every((each) => each.severity === severity));
      assert.deepEqual(await advisories(`&severity=${severity.toUpperCase()}`), expected);
    }
    const all = await advisories();
    const { id, aliases } = all.find((each) => (each.aliases as string[]).length > 0) ?? assert.fail();
    const expected = await affected(`&advisory=${id}`);
    assert.ok(expected.length > 0);
    const names = [id, ...(aliases as string[])];
    for (const name of [...names, ...names.map((each) => each.toLowerCase())])
      assert.deepEqual(await affected(`&advisory=${name}`), expected, name);
    const only = (all.find((each) => each.id.startsWith('GHSA-')) ?? assert.fail()).id;
    assert.ok((await affected(`&advisory=${only.toUpperCase()}`)).length > 0);
    for (const unknown of ['CVE-1999-0001', '__proto__', 'constructor', '%25', `CVE-${'9'.repeat(200)}`])
      assert.deepEqual(await affected(`&advisory=${unknown}`), [], unknown);
    assert.deepEqual(await affected('&domain=never-scanned.com'), []);
  });

  it('stand in the page of a provider, for a product alone', async () => {
    const open = await openOf('providers/php');
    const rows = (await affected()).filter((row) => row.product_id === 'php');
    const version = new Set(rows.filter((row) => row.match === 'version').map((row) => row.id));
    const product = new Set(rows.map((row) => row.id)).difference(version);
    assert.deepEqual([open.version, open.product], [version.size, product.size]);
    assert.ok(open.top.every((each) => each.product_id === 'php'));
    assert.equal(await openOf('providers/cloudflare'), null);
  });
});
