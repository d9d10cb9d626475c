// Answers on advisories: counts, lists, filters and pages; they follow what publishers publish and what scans find, and
// keep their receipts until then. Their order: packages/advisories; their schemas and receipts: tests/smoke.

import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { PUBLIC_SUFFIX_LIST } from '@strata/detect';
import { type Affected, phpHole, questionsTo, sharedAdvisories, showing } from '../test/advisories.ts';
import { assertDescribed } from '../test/described.ts';
import { sharedService } from '../test/shared.ts';
import { withoutPaths } from './enrichment.ts';

const SEVERITIES = ['low', 'medium', 'high', 'critical'];

const shared = await sharedAdvisories();
const { service, internet, publishers } = shared;
const { get, affected, advisories, openOf } = questionsTo(service);
const [withPhp = ''] = showing(internet, 'php');
/** A scanned company whose site shows all of these. */
const scannedWith = (...products: string[]) =>
  shared.scanned.find((domain) => products.every((each) => showing(internet, each).includes(domain))) ?? assert.fail();
const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);

/** Domains by version, and those by product alone. */
function countsOf(rows: readonly Affected[]) {
  const of = (kind: string) => new Set(rows.filter(({ match }) => match === kind).map(({ domain }) => domain));
  const version = of('version');
  return { version, counts: { version: version.size, product: of('product').difference(version).size } };
}

it('before any source was read nothing is known, and nothing is called safe', async () => {
  const unsynced = await sharedService();
  const { get, affected, advisories, openOf } = questionsTo(unsynced);
  const [withPhp = ''] = showing(unsynced.internet, 'php');
  const risk = await get(`intelligence/risk/${withPhp}`);
  const { factors } = risk.security as { factors: { factor: string; weight: number; risk: number | null }[] };
  const factor = factors.find((each) => each.factor === 'known_vulnerabilities');
  assert.deepEqual([risk.advisories, factor?.weight, factor?.risk], [null, 0.15, null]);
  assert.deepEqual([await openOf(`domains/${withPhp}`), await openOf('providers/php')], [null, null]);
  const { advisories: counts, sources, coverage, public_suffix_list: list } = await get('enrichment/status');
  assert.deepEqual(list, PUBLIC_SUFFIX_LIST);
  assert.equal((counts as Record<string, unknown>).total, 0);
  const states = (sources as Record<string, unknown>[]).map((each) => `${each.source} ${each.state} ${each.last_sync}`);
  assert.equal(states.join(), 'kev off null,epss off null,nvd off null,osv off null,cve off null');
  const { domains } = coverage as { domains: { total: number; with_product: number; with_version: number } };
  assert.equal(domains.total, unsynced.internet.domains().length);
  assert.ok(domains.with_version > 0 && domains.with_version < domains.with_product);
  assert.deepEqual([await affected(), await advisories()], [[], []]);
});

describe('advisories', () => {
  beforeEach(() => shared.age());

  it('are published at once where a profile had nothing known, and are as they are described', async () => {
    const all = await affected(`&domain=${withPhp}`);
    // An advisory of several products of a domain is counted once.
    const rows = all.filter(({ id }, i) => i === all.findIndex((row) => row.id === id));
    const versions = rows.filter(({ match }) => match === 'version');
    for (const path of ['domains', 'intelligence/risk']) {
      const open = await openOf(`${path}/${withPhp}`);
      assertDescribed(`/stack/v1/${path}/{domain}`, await get(`${path}/${withPhp}`));
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
    assert.deepEqual(idsOf(all), [...new Set(idsOf(rows))]);
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
      [`enrichment/affected?domain=${withPhp}&`, 'affected'],
      ['enrichment/affected?severity=high&match=product&', 'affected'],
    ] as const) {
      const all = await get(`${path}limit=1000`);
      const total = all.total as number;
      assert.equal((all[list] as unknown[]).length, total);
      for (const limit of [33, 101]) {
        const [found, paged]: unknown[][] = [[], []];
        for (let offset = 0, cursor = ''; offset < total; offset += limit) {
          const page = await get(`${path}limit=${limit}&offset=${offset}`);
          assert.equal(page.total, total);
          found?.push(...(page[list] as unknown[]));
          const next = await get(`${path}limit=${limit}${cursor}`);
          paged?.push(...(next[list] as unknown[]));
          cursor = `&cursor=${next.next_cursor}`;
          assert.equal(next.next_cursor === null, offset + limit >= total);
        }
        assert.deepEqual([found, paged], [all[list], all[list]], `${path} by ${limit}`);
      }
    }
  });
  it('are filtered by everything at once, and counted so', async () => {
    const all = await affected();
    for (const domain of [undefined, withPhp])
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
  it('are on the page of a provider, for products only', async () => {
    const open = await openOf('providers/php');
    const rows = (await affected()).filter((row) => row.product_id === 'php');
    const version = new Set(idsOf(rows.filter((row) => row.match === 'version')));
    const product = new Set(idsOf(rows)).difference(version);
    assert.deepEqual([open.version, open.product], [version.size, product.size]);
    assert.ok(open.top.every((each) => each.product_id === 'php'));
    assert.equal(await openOf('providers/cloudflare'), null);
  });
});

describe('what changes of advisories', () => {
  beforeEach(() => shared.age());

  it('changes the answers at once, and until then they keep their receipts', async () => {
    const domain = scannedWith('php');
    const paths = ['enrichment/affected', 'enrichment/advisories', `domains/${domain}`, 'providers/php'];
    const receipts = () => Promise.all(paths.map(async (path) => (await get(path)).provenance.receipt_id));
    await shared.sync();
    const before = await receipts();
    await shared.sync();
    assert.deepEqual(await receipts(), before, 'a sync that brought nothing');
    publishers.publish(phpHole('CVE-2026-80001'));
    await shared.sync();
    assert.ok((await receipts()).every((receipt, i) => receipt !== before[i]));
    assert.ok((await affected('&advisory=CVE-2026-80001&match=version&severity=critical')).length > 0);
    assert.ok(idsOf(await affected(`&domain=${domain}`)).includes('CVE-2026-80001'));
  });
  it('takes back what is withdrawn, and moves up what is exploited', async () => {
    const position = async () => idsOf(await advisories()).indexOf('CVE-2026-80001');
    const before = await position();
    publishers.exploit('CVE-2026-80001');
    await shared.sync(['kev', 'epss']);
    const up = await position();
    assert.ok(up >= 0 && up < before, `${before} to ${up}`);
    const all = await affected();
    for (const [asked, isExploited] of Object.entries({ true: true, FALSE: false })) {
      const meant = all.filter((row) => row.known_exploited === isExploited);
      assert.deepEqual(await affected(`&known_exploited=${asked}`), meant);
      assert.deepEqual(idsOf(await advisories(`&known_exploited=${asked}`)), [...new Set(idsOf(meant))]);
    }
    assert.deepEqual(idsOf(await advisories('&advisory=cve-2026-80001')), ['CVE-2026-80001']);
    const unknown = '&advisory=CVE-1999-0001&domain=never-scanned.com';
    for (const [query, advisory, domain] of [['', null, null] as const, [unknown, false, false] as const]) {
      const { known } = await get(`enrichment/affected?limit=1${query}`);
      assert.deepEqual(known, { advisories: true, advisory, domain });
    }
    publishers.withdraw('CVE-2026-80001');
    await shared.sync();
    assert.deepEqual([await position(), await affected('&advisory=CVE-2026-80001')], [-1, []]);
  });
  it('is counted once for a domain, whatever number of its products it names', async () => {
    const domain = scannedWith('php', 'wordpress');
    const before = await openOf(`domains/${domain}`);
    const { affected: products, ...hole } = phpHole('CVE-2026-80003');
    const wordpress = { cpe: 'wordpress:wordpress', vendor: 'WordPress Foundation', product: 'WordPress' };
    publishers.publish({ ...hole, affected: [...products, { ...wordpress, versions: [{ below: '0.1' }, {}] }] });
    await shared.sync();
    const rows = await affected(`&domain=${domain}&advisory=CVE-2026-80003`);
    assert.deepEqual(rows.map(({ product_id }) => product_id).sort(), ['php', 'wordpress']);
    const after = await openOf(`domains/${domain}`);
    assert.equal(after.version + after.product, before.version + before.product + 1);
    const found = (await advisories()).find(({ id }) => id === 'CVE-2026-80003') ?? assert.fail();
    assert.equal((found.products as unknown[]).length, 2);
    const all = (await affected('&advisory=CVE-2026-80003')).filter((row) => row.domain === domain);
    assert.deepEqual(all, rows, 'in the same order, whichever domain is asked for');
  });
  it('is found by a new scan, also one that a request waits for', async () => {
    const [onRequest = '', waited = ''] = shared.unscanned;
    const before = (await get('enrichment/affected')).total as number;
    const open = await openOf(`domains/${onRequest}`);
    const risk = await openOf(`intelligence/risk/${onRequest}`);
    await service.scan(waited);
    await service.running.updateLoop.run();
    shared.age();
    const rows = await affected(`&domain=${onRequest}`);
    assert.ok(rows.length > 0);
    assert.equal(open.version + open.product, new Set(idsOf(rows)).size);
    assert.equal(risk.version, open.version);
    const more = rows.length + (await affected(`&domain=${waited}`)).length;
    assert.equal((await get('enrichment/affected')).total, before + more);
  });
});
it('the error of a source is shown without URLs and file paths', () => {
  const error = 'fetch https://user:key@nvd.example/a?b=c failed: cannot read /var/lib/strata/nvd.json now';
  assert.equal(withoutPaths(error), 'fetch … failed: cannot read … now');
});
