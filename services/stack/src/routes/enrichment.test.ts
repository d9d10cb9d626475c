import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { verifyAnswer } from '@strata/receipts';
import type { Internet } from '@strata/testnet';
import { sharedAdvisories } from '../test/advisories.ts';
import { assertDescribed } from '../test/described.ts';
import type { Body, Harness } from '../test/harness.ts';
import { sharedService } from '../test/shared.ts';

interface About extends Record<string, unknown> {
  readonly id: string;
  readonly severity: string | null;
  readonly match: string;
}
interface Affected extends About {
  readonly domain: string;
  readonly product_id: string;
}

const SEVERITIES = ['low', 'medium', 'high', 'critical'];

let service: Harness;
let internet: Internet;

async function get(path: string): Promise<Body> {
  const { status, body, text } = await service.get(`/stack/v1/${path}`);
  assert.equal(status, 200, text.slice(0, 300));
  return body;
}
const affected = async (query = '') => (await get(`enrichment/affected?limit=1000${query}`)).affected as Affected[];
const advisories = async (query = '') => (await get(`enrichment/advisories?limit=1000${query}`)).advisories as About[];
/** A company whose site shows this. */
const showing = (product: string) =>
  internet.domains().find((domain) => internet.truth(domain).versions[product]?.version != null) ??
  assert.fail(product);

describe('before any source was read', () => {
  before(async () => {
    service = await sharedService();
    ({ internet } = await sharedService());
  });

  it('nothing is known of anybody, and nothing is said to be safe', async () => {
    const domain = showing('php');
    assert.equal((await get(`domains/${domain}`)).advisories, null);
    const risk = (await get(`intelligence/risk/${domain}`)) as Body & {
      advisories: unknown;
      security: { factors: { factor: string; weight: number; risk: number | null }[] };
    };
    const factor = risk.security.factors.find((each) => each.factor === 'known_vulnerabilities');
    assert.deepEqual([risk.advisories, factor?.weight, factor?.risk], [null, 0.15, null]);
    assert.equal((await get('providers/php')).advisories, null);
    const { advisories: counts, sources, coverage } = await get('enrichment/status');
    assert.equal((counts as Record<string, unknown>).total, 0);
    assert.deepEqual(
      (sources as Record<string, unknown>[]).map((each) => [each.source, each.state, each.last_sync]),
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

  it('are told at once where a profile said that nothing was known', async () => {
    const domain = showing('php');
    const all = await affected(`&domain=${domain}`);
    // An advisory of several products of a domain is counted once.
    const rows = all.filter(({ id }, i) => i === all.findIndex((row) => row.id === id));
    const versions = rows.filter(({ match }) => match === 'version');
    for (const path of [`domains/${domain}`, `intelligence/risk/${domain}`]) {
      const open = (await get(path)).advisories as {
        version: number;
        product: number;
        known_exploited: number;
        by_severity: Record<string, number>;
        top: About[];
      };
      assert.deepEqual([open.version, open.product], [versions.length, rows.length - versions.length]);
      assert.equal(open.known_exploited, versions.filter((row) => row.known_exploited).length);
      for (const severity of SEVERITIES)
        assert.equal(open.by_severity[severity], versions.filter((row) => row.severity === severity).length);
      const { domain: _, ...first } = versions[0] ?? rows[0] ?? assert.fail();
      assert.deepEqual(open.top[0], first);
      assert.ok(open.top.length <= 10);
    }
  });

  it('are as they are described, wherever they stand', async () => {
    const domain = showing('php');
    for (const [path, question] of [
      ['enrichment/status', 'enrichment/status'],
      ['enrichment/advisories', 'enrichment/advisories?limit=1000'],
      ['enrichment/affected', 'enrichment/affected?limit=1000'],
      ['domains/{domain}', `domains/${domain}`],
      ['intelligence/risk/{domain}', `intelligence/risk/${domain}`],
      ['providers/{provider}', 'providers/php'],
    ] as const)
      assertDescribed(`/stack/v1/${path}`, await get(question));
  });

  it('come known-exploited first, then by EPSS, CVSS and date', async () => {
    const all = await advisories();
    const rank = (each: About) => [
      each.known_exploited ? 1 : 0,
      Number(each.epss ?? 0),
      Number(each.cvss ?? 0),
      Math.floor(Date.parse(String(each.published)) / 86_400_000),
    ];
    for (const [i, each] of all.entries()) {
      const [before, now] = [rank(all[i - 1] ?? each), rank(each)];
      const at = before.findIndex((value, place) => value !== now[place]);
      assert.ok(at === -1 || (before[at] ?? 0) > (now[at] ?? 0), `${all[i - 1]?.id} before ${each.id}`);
    }
    assert.ok(all.length > 20);
  });

  it('are those of the rows, with their domains counted apart', async () => {
    const rows = await affected();
    const all = await advisories();
    assert.deepEqual(
      all.map(({ id }) => id),
      [...new Set(rows.map(({ id }) => id))],
    );
    for (const { id, match, domains, affected: some } of all) {
      const named = some as string[];
      const of = (kind: string) =>
        new Set(rows.filter((row) => row.id === id && row.match === kind).map(({ domain }) => domain));
      const [version, product] = [of('version'), of('product')];
      const further = [...product].filter((domain) => !version.has(domain)).length;
      assert.deepEqual(domains, { version: version.size, product: further }, id);
      assert.equal(match, version.size > 0 ? 'version' : 'product');
      assert.equal(named.length, Math.min(10, version.size));
      assert.deepEqual(named, [...new Set(named)].filter((domain) => version.has(domain)).sort());
    }
  });

  it('page without a gap or a repetition, whatever the size', async () => {
    for (const [path, list] of [
      ['enrichment/affected', 'affected'],
      ['enrichment/advisories', 'advisories'],
      [`enrichment/affected?domain=${showing('php')}`, 'affected'],
      ['enrichment/affected?severity=high&match=product', 'affected'],
    ] as const) {
      const ask = (limit: number, offset: number) =>
        get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}&offset=${offset}`);
      const whole = await ask(1_000, 0);
      const total = whole.total as number;
      assert.equal((whole[list] as unknown[]).length, total);
      for (const limit of [33, 101]) {
        const found: unknown[] = [];
        for (let offset = 0; offset < total + limit; offset += limit) {
          const page = await ask(limit, offset);
          assert.equal(page.total, total);
          found.push(...(page[list] as unknown[]));
        }
        assert.deepEqual(found, whole[list], `${path} by ${limit}`);
      }
    }
  });

  it('are filtered by everything at once, and counted so', async () => {
    const all = await affected();
    const { id: first } = all[0] ?? assert.fail();
    const one = showing('php');
    const filters = [undefined, one].flatMap((domain) =>
      [undefined, 'critical', 'medium'].flatMap((severity) =>
        [undefined, 'version', 'product'].flatMap((match) =>
          [undefined, first].map((id) => Object.entries({ domain, severity, match, id }).filter(([, value]) => value)),
        ),
      ),
    );
    for (const filter of filters) {
      const expected = all.filter((row) => filter.every(([name, value]) => row[name] === value));
      const query = filter.map(([name, value]) => `&${name === 'id' ? 'advisory' : name}=${value}`).join('');
      const body = await get(`enrichment/affected?limit=1000${query}`);
      assert.deepEqual([body.affected, body.total], [expected, expected.length], query);
      const of = (kind: string) => new Set(expected.filter((row) => row.match === kind).map((row) => row.domain));
      const product = [...of('product')].filter((name) => !of('version').has(name)).length;
      assert.deepEqual(body.domains, { version: of('version').size, product });
    }
  });

  it('are found by severity in any case, and by any id in any case', async () => {
    for (const severity of SEVERITIES) {
      const expected = await advisories(`&severity=${severity}`);
      assert.ok(expected.every((each) => each.severity === severity));
      assert.deepEqual(await advisories(`&severity=${severity.toUpperCase()}`), expected);
      assert.deepEqual(
        await affected(`&severity=${severity[0]?.toUpperCase()}${severity.slice(1)}`),
        await affected(`&severity=${severity}`),
      );
    }
    const { id, aliases } = (await advisories()).find((each) => (each.aliases as string[]).length > 0) ?? assert.fail();
    const expected = await affected(`&advisory=${id}`);
    assert.ok(expected.length > 0);
    const names = [id, ...(aliases as string[])];
    for (const name of [...names, ...names.map((each) => each.toLowerCase())])
      assert.deepEqual(await affected(`&advisory=${name}`), expected, name);
    const only = (await advisories()).find((each) => each.id.startsWith('GHSA-')) ?? assert.fail();
    assert.ok((await affected(`&advisory=${only.id.toUpperCase()}`)).length > 0);
    assert.deepEqual(await affected(`&advisory=${only.id.toLowerCase()}`), await affected(`&advisory=${only.id}`));
    for (const unknown of ['CVE-1999-0001', '__proto__', 'constructor', '%25', `CVE-${'9'.repeat(200)}`])
      assert.deepEqual(await affected(`&advisory=${unknown}`), [], unknown);
    assert.deepEqual(await affected('&domain=never-scanned.com'), []);
  });

  it('carry receipts that verify', async () => {
    const keySet = (await service.ask('/.well-known/stack-keys.json')).body;
    for (const path of ['status', 'advisories', 'affected']) {
      const body = await get(`enrichment/${path}`);
      const ledgerReceipt = (await service.ask(`/ledger/receipts/${body.provenance.ledger_receipt_id}`)).body;
      const verdict = await verifyAnswer(body, { keySet, ledgerReceipt });
      assert.ok(verdict.ok, JSON.stringify(verdict.steps));
    }
  });

  it('stand in the page of a provider, for a product alone', async () => {
    const open = (await get('providers/php')).advisories as { version: number; product: number; top: Affected[] };
    const rows = (await affected()).filter((row) => row.product_id === 'php');
    const version = new Set(rows.filter((row) => row.match === 'version').map((row) => row.id));
    const product = new Set(rows.map((row) => row.id).filter((id) => !version.has(id)));
    assert.deepEqual([open.version, open.product], [version.size, product.size]);
    assert.ok(open.top.every((each) => each.product_id === 'php'));
    assert.equal((await get('providers/cloudflare')).advisories, null);
  });
});
