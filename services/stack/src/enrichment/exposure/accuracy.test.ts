// Every simulated company against every published fact: which matches there must be is worked out here from the facts alone.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type AdvisorySources, createInternet, type Internet, type VulnerabilityFacts } from '@strata/testnet';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { type Affected, advisorySettings, phpHole, questionsTo, sync } from '../../test/advisories.ts';
import { type Harness, startHarness } from '../../test/harness.ts';

type Shown = Readonly<Record<'version' | 'platform', string | null>>;

/** What the NVD calls the software that companies show; what is not here is a service, or has no published vulnerabilities. */
const CPE: Readonly<Record<string, string>> = casesOf('stack', 'names of the NVD');
/** What these show is a branch: which of its versions runs is not known. */
const BRANCH_ONLY = new Set(['ghost']);
/** Distributions that the simulated servers name. */
const PACKERS: ReadonlySet<string> = new Set(['ubuntu', 'debian', 'centos']);

let internet: Internet;
let publishers: AdvisorySources;
let service: Harness;
let rows: Affected[];
const { get, affected } = questionsTo({ get: (path) => service.get(path) });

/** Sites of which not all software was found that they show. */
async function unread(): Promise<string[]> {
  const found: string[] = [];
  for (const domain of internet.domains()) {
    const profile = await service.running.app.store.domains.profile(domain);
    const seen = new Set(profile?.services.map(({ provider }) => provider));
    const shown = Object.keys(internet.truth(domain).versions);
    if (shown.some((id) => id !== 'openssl' && !seen.has(id))) found.push(domain);
  }
  return found;
}

async function everything(): Promise<Affected[]> {
  const found: Affected[] = [];
  for (let total = 1; found.length < total; ) {
    const body = await get(`enrichment/affected?limit=997&offset=${found.length}`);
    const page = body.affected as Affected[];
    total = body.total as number;
    assert.equal(page.length, Math.min(997, total - found.length));
    found.push(...page);
  }
  return found;
}

/** Numbers one by one, then a letter behind the last: all that these versions have. */
const { compare } = new Intl.Collator('en', { numeric: true });
const isIn = (version: string, { from, below, upTo }: VulnerabilityFacts['affected'][number]['versions'][number]) =>
  (from === undefined || compare(version, from) >= 0) &&
  (below === undefined || compare(version, below) < 0) &&
  (upTo === undefined || compare(version, upTo) <= 0);

/** Match and reason of what a site shows, by the facts; undefined where it is not affected. */
function expectedOf(facts: VulnerabilityFacts, cpe: string, { version, platform }: Shown): string | undefined {
  const products = facts.affected.filter((product) => product.cpe === cpe);
  if (products.length === 0 || facts.isRejected || facts.isMalformed) return undefined;
  if (facts.id.startsWith('GHSA-') && products.every((product) => product.package === undefined)) return undefined;
  if (version === null) return 'product no_version';
  if (facts.nvd === 'awaiting' && facts.isProse) return 'product no_range';
  const upstream = version.replace(/-.*/, '');
  if (!products.some(({ versions }) => versions.some((range) => isIn(upstream, range)))) return undefined;
  if (facts.runsOn && platform !== 'win64') return platform === null ? 'product condition' : undefined;
  return PACKERS.has(platform ?? '') ? 'product backport' : 'version in_range';
}

function expected(): Map<string, string> {
  const all = new Map<string, string>();
  for (const domain of internet.domains())
    for (const [provider, shown] of Object.entries(internet.truth(domain).versions))
      for (const facts of CPE[provider] === undefined ? [] : publishers.records()) {
        const build = BRANCH_ONLY.has(provider) ? { version: null, platform: null } : shown;
        const match = expectedOf(facts, CPE[provider] ?? '', build);
        if (match) all.set(`${domain} ${provider} ${facts.id}`, match);
      }
  return all;
}

const keyOf = (row: Affected) => `${row.domain} ${row.product_id} ${row.id}`;

describe('affected domains', () => {
  before(async () => {
    internet = await createInternet({ domains: 90, hasFaults: false });
    publishers = await internet.advisories();
    service = await startHarness({ internet, settings: advisorySettings(publishers) });
    await service.scan(...internet.domains());
    // A site that did not answer in time while all were asked at once.
    for (let times = 0; times < 3; times += 1) await service.scan(...(await unread()));
    await sync(service, publishers);
    rows = await everything();
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await internet?.[Symbol.asyncDispose]();
  });
  it('are those that the facts affect, by version and by product, none more and none less', () => {
    const reported = new Map(rows.map((row) => [keyOf(row), `${row.match} ${row.reason}`]));
    assert.equal(reported.size, rows.length, 'each once');
    const truth = expected();
    const wrong = rows.filter((row) => {
      const { redirectsTo, versions } = internet.truth(row.domain);
      // One that sends its visitors on has no pages, but a server that names itself.
      if (redirectsTo !== null) return false;
      const ofHost = versions[row.product_id] === undefined;
      return reported.get(keyOf(row)) !== (ofHost ? 'product no_version' : truth.get(keyOf(row)));
    });
    const missing = [...truth.keys()].filter((key) => !reported.has(key));
    assert.deepEqual([wrong.slice(0, 10), missing.slice(0, 10)], [[], []]);
    const sources = new Set(rows.map((row) => row.range_source));
    assert.deepEqual([...sources].sort(), ['cna', 'ghsa', 'nvd']);
    const found = new Set(truth.values());
    for (const match of ['version in_range', 'product no_version', 'product condition', 'product backport'])
      assert.ok(found.has(match), match);
  });
  it('are not users of a service of the company that makes a product', async () => {
    const { rulebook, exposures } = service.running.app;
    for (const id of ['cloudflare', 'google-workspace', 'microsoft-365', 'fastly', 'akamai'])
      assert.ok(rulebook.providers.has(id) && !exposures.advisories.products.includes(id), id);
    const product = (name: string, cpe: string) => ({ cpe, vendor: 'Cloudflare', product: name, versions: [{}] });
    const products = [product('cloudflared', 'cloudflare:cloudflared'), product('Cloudflare', 'cloudflare:warp')];
    publishers.publish(phpHole('CVE-2026-70001', { affected: products }));
    await sync(service, publishers);
    assert.deepEqual(await affected('&advisory=CVE-2026-70001'), []);
    assert.equal((await get('providers/cloudflare')).advisories, null);
  });
});
