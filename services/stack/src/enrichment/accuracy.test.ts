// Every simulated company against every published fact: which matches there must be is worked out here from the facts alone.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AdvisorySources, createInternet, type Internet, type VulnerabilityFacts } from '@strata/testnet';
import { advisorySettings, sync } from '../test/advisories.ts';
import { type Harness, startHarness } from '../test/harness.ts';

interface Row {
  readonly domain: string;
  readonly id: string;
  readonly product_id: string;
  readonly match: string;
  readonly reason: string;
  readonly range_source: string | null;
  readonly version: string | null;
  readonly platform: string | null;
}

/** What the NVD calls the software that companies show; what is not here is a service, or nobody tells vulnerabilities of it. */
const CPE: Readonly<Record<string, string>> = {
  nginx: 'f5:nginx',
  apache: 'apache:http_server',
  php: 'php:php',
  openssl: 'openssl:openssl',
  wordpress: 'wordpress:wordpress',
  joomla: 'joomla:joomla\\!',
  drupal: 'drupal:drupal',
  ghost: 'ghost:ghost',
  nextjs: 'vercel:next.js',
  'microsoft-iis': 'microsoft:internet_information_services',
  'asp-net': 'microsoft:.net_framework',
  litespeed: 'litespeedtech:litespeed_web_server',
};

/** What these show is a branch: which of its versions runs nobody can tell. */
const BRANCH_ONLY = new Set(['ghost']);
const NO_VERSION = { version: null, platform: null };

let internet: Internet;
let publishers: AdvisorySources;
let service: Harness;
let rows: Row[];

/** Sites of which not all software was seen that they show. */
async function unread(): Promise<string[]> {
  const found: string[] = [];
  for (const domain of internet.domains()) {
    const profile = await service.running.service.app.store.domain(domain);
    const seen = new Set(profile?.services.map(({ provider }) => provider));
    if (Object.keys(internet.truth(domain).versions).some((id) => id !== 'openssl' && !seen.has(id)))
      found.push(domain);
  }
  return found;
}

/** All pages, of an odd size. */
async function everything(query = '', limit = 997): Promise<Row[]> {
  const found: Row[] = [];
  for (let total = 1; found.length < total; ) {
    const { body } = await service.get(`/stack/v1/enrichment/affected?limit=${limit}&offset=${found.length}${query}`);
    const page = body.affected as Row[];
    total = body.total as number;
    assert.equal(page.length, Math.min(limit, total - found.length));
    found.push(...page);
  }
  return found;
}

/** Distributions that the simulated servers name. */
const PACKERS: ReadonlySet<string> = new Set(['ubuntu', 'debian', 'centos']);
const PARTS = /\d+|[a-z]+/g;

/** Numbers one by one, then a letter behind the last: all that these versions have. */
function compare(a: string, b: string): number {
  const [x, y] = [a.match(PARTS) ?? [], b.match(PARTS) ?? []];
  for (let i = 0; i < Math.max(x.length, y.length); i += 1) {
    const [left = '0', right = '0'] = [x[i], y[i]];
    const difference = Number(left) - Number(right) || (left < right ? -1 : left > right ? 1 : 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

const isIn = (version: string, { from, below, upTo }: VulnerabilityFacts['affected'][number]['versions'][number]) =>
  (from === undefined || compare(version, from) >= 0) &&
  (below === undefined || compare(version, below) < 0) &&
  (upTo === undefined || compare(version, upTo) <= 0);

/** Match and reason of what a site shows, by the facts; undefined where it is not concerned. */
function expectedOf(
  facts: VulnerabilityFacts,
  cpe: string,
  shown: { readonly version: string | null; readonly platform: string | null },
): string | undefined {
  const products = facts.affected.filter((product) => product.cpe === cpe);
  const isPackageOnly = facts.id.startsWith('GHSA-');
  if (products.length === 0 || facts.isRejected || facts.isMalformed) return undefined;
  if (isPackageOnly && products.every((product) => product.package === undefined)) return undefined;
  if (shown.version === null) return 'product no_version';
  const upstream = shown.version.replace(/-.*/, '');
  const isHit = products.some(({ versions }) => versions.some((range) => isIn(upstream, range)));
  if (facts.nvd === 'awaiting' && facts.isProse) return 'product no_range';
  if (!isHit) return undefined;
  if (facts.runsOn && shown.platform !== 'win64') {
    return shown.platform === null ? 'product condition' : undefined;
  }
  return PACKERS.has(shown.platform ?? '') ? 'product backport' : 'version in_range';
}

function expected(): Map<string, string> {
  const all = new Map<string, string>();
  for (const domain of internet.domains()) {
    for (const [provider, shown] of Object.entries(internet.truth(domain).versions)) {
      const cpe = CPE[provider];
      for (const facts of cpe === undefined ? [] : publishers.records()) {
        const match = expectedOf(facts, cpe ?? '', BRANCH_ONLY.has(provider) ? NO_VERSION : shown);
        if (match) all.set(`${domain} ${provider} ${facts.id}`, match);
      }
    }
  }
  return all;
}

const keyOf = (row: Row) => `${row.domain} ${row.product_id} ${row.id}`;

describe('affected domains', () => {
  before(async () => {
    internet = await createInternet({ domains: 90, hasFaults: false });
    publishers = await internet.advisories();
    service = await startHarness({ internet, settings: advisorySettings(publishers) });
    await service.scan(...internet.domains());
    // A site that did not answer in time while all were asked at once.
    for (let look = 0; look < 3; look += 1) await service.scan(...(await unread()));
    await sync(service, publishers);
    rows = await everything();
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });

  it('are those that the facts affect, by version and by product, none more and none less', (test) => {
    const told = new Map(rows.map((row) => [keyOf(row), `${row.match} ${row.reason}`]));
    assert.equal(told.size, rows.length, 'each once');
    const truth = expected();
    const wrong = rows.filter((row) => {
      const { redirectsTo, versions } = internet.truth(row.domain);
      // One that sends its visitors on has no pages, but a server that says what it is.
      if (redirectsTo !== null) return false;
      const ofHost = versions[row.product_id] === undefined;
      return told.get(keyOf(row)) !== (ofHost ? 'product no_version' : truth.get(keyOf(row)));
    });
    const missing = [...truth].filter(([key]) => !told.has(key));
    const byReason: Record<string, number> = {};
    for (const match of truth.values()) byReason[match] = (byReason[match] ?? 0) + 1;
    test.diagnostic(JSON.stringify(byReason));
    assert.deepEqual([wrong.slice(0, 10), missing.slice(0, 10)], [[], []]);
    for (const match of ['version in_range', 'product no_version', 'product condition', 'product backport'])
      assert.ok((byReason[match] ?? 0) > 0, match);
  });

  it('are matched by the CNA where the NVD has not looked yet, and by GitHub where only it speaks', () => {
    const sourcesOf = (id: string) => new Set(rows.filter((row) => row.id === id).map((row) => row.range_source));
    const facts = publishers.records();
    for (const { id, nvd, affected, isProse } of facts) {
      const found = sourcesOf(id);
      if (found.size === 0) continue;
      const source = id.startsWith('GHSA-') ? 'ghsa' : nvd === 'awaiting' ? 'cna' : 'nvd';
      const hasPackage = affected.some((product) => product.package !== undefined);
      if (!isProse && !(nvd === 'awaiting' && hasPackage)) assert.deepEqual([...found], [source], id);
    }
    const all = new Set(rows.map((row) => row.range_source));
    assert.deepEqual([...all].sort(), ['cna', 'ghsa', 'nvd']);
  });

  it('are no users of a service of the company that makes a product', async () => {
    const { rulebook, exposures } = service.running.service.app;
    for (const id of ['cloudflare', 'google-workspace', 'microsoft-365', 'fastly', 'akamai']) {
      assert.ok(rulebook.providers.has(id), id);
      assert.ok(!exposures.advisories.products.includes(id), id);
    }
    publishers.publish({
      id: 'CVE-2026-70001',
      title: 'In a tool of the same company',
      vector: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H',
      affected: [
        { cpe: 'cloudflare:cloudflared', vendor: 'Cloudflare', product: 'cloudflared', versions: [{}] },
        { cpe: 'cloudflare:warp', vendor: 'Cloudflare', product: 'Cloudflare', versions: [{}] },
      ],
    });
    await sync(service, publishers);
    assert.deepEqual((await everything('&advisory=CVE-2026-70001')).length, 0);
    assert.equal((await service.get('/stack/v1/providers/cloudflare')).body.advisories, null);
  });
});
