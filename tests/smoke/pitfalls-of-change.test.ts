// Ways in which one look after another is commonly misread, and products taken for vulnerable: one test each.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Advisory, compileAdvisory, judgeCompiled } from '@strata/advisories';
import { entries } from '@strata/catalog';
import { compileRulebook, detect, loadCatalog, type Profile, reconcile, SOURCES } from '@strata/detect';
import { mx, profileOf } from '../support/pitfalls.ts';
import { rulebook } from '../support/rulebook.ts';

const HOUR = 3_600_000;
const confirmAfterMs = 6 * HOUR;
const measuredBefore: ReadonlySet<(typeof SOURCES)[number]> = new Set(SOURCES);
type Known = ReturnType<typeof reconcile>['open'];

const at = (profile: Profile, hours: number): Profile => ({
  ...profile,
  observedAt: new Date(Date.UTC(2026, 0, 1, hours)).toISOString(),
});
/** What history makes of scans, one a day unless their hours are given. */
function changesOf(profiles: readonly Profile[], hours = [0, 24, 48, 72, 96]) {
  let open: Known = [];
  const changes = profiles.flatMap((profile, i) => {
    const result = reconcile(open, at(profile, hours[i] ?? 0), {
      confirmAfterMs,
      measuredBefore: open.length === 0 ? new Set() : measuredBefore,
    });
    open = result.open;
    return result.changes.map(({ type, from, to }) => `${type} ${from ?? '-'} ${to ?? '-'}`);
  });
  return { changes, open };
}

const inUse = { ns: ['dana.ns.cloudflare.com'], mx: mx('1 aspmx.l.google.com') };
const moved = { ...inUse, mx: mx('0 example-com.mail.protection.outlook.com') };
describe('pitfall', () => {
  it('33: a look-up that fails removes nobody, however often', () => {
    for (const status of ['servfail', 'timeout', 'refused'] as const) {
      const lookup = { status, records: [], aliases: [] };
      const failed = profileOf(inUse, {}, { dns: { mx: lookup, ns: lookup } });
      const { changes, open } = changesOf([profileOf(inUse), failed, failed, failed, failed]);
      assert.deepEqual([changes, open.length], [[], 2], status);
    }
  });

  it('34: what another rulebook makes of the same records is reclassified, and no migration', () => {
    const renamed = entries.map((entry) =>
      JSON.parse(JSON.stringify(entry).replace('"id":"google-workspace"', '"id":"google-mail-for-business"')),
    );
    const later = compileRulebook(loadCatalog(renamed));
    assert.notEqual(later.version, rulebook.version);
    const evidence = profileOf.evidence(inUse);
    const known = changesOf([detect(evidence, rulebook), detect(evidence, rulebook)]).open;
    const previous = at(detect(evidence, later), 24);
    const { changes } = reconcile(known, at(detect(evidence, later), 48), { confirmAfterMs, measuredBefore, previous });
    assert.ok(changes.length > 0);
    for (const { type } of changes) assert.equal(type, 'reclassified');
  });

  it('35: an answer that flaps is no move; one that stays for two looks is', () => {
    const a = profileOf(inUse);
    const b = profileOf(moved);
    assert.deepEqual(changesOf([a, b, a, b, a]).changes, []);
    assert.deepEqual(changesOf([a, a, b, b], [0, 24, 25, 26]).changes, [], 'two scans within six hours');
    assert.deepEqual(changesOf([a, a, b, b]).changes, ['migrated google-workspace microsoft-365']);
  });

  it('37: an outage of a provider is failed look-ups for all its customers, and churn of nobody', () => {
    const customers = Array.from({ length: 50 }, (_, i) => ({ ...inUse, domain: `company${i}.example.com` }));
    for (const customer of customers) {
      const whole = profileOf(customer);
      const down = profileOf(customer, {}, { dns: { ns: { status: 'servfail', records: [], aliases: [] } } });
      assert.deepEqual(changesOf([whole, down, down, whole]).changes, []);
    }
  });
});

type Claim = Advisory['claims'][number];
type ProductClaim = Extract<Claim, { readonly kind: 'product' }>;

const claim: ProductClaim = {
  ...{ kind: 'product', source: 'cna', products: ['cpe:f5:nginx'], scheme: 'dotted' },
  affected: [{ from: { version: '1.0', isInclusive: true }, to: { version: '1.20.1', isInclusive: false } }],
  ...{ affectedVersions: [], unaffected: [], otherwise: 'unaffected', platforms: [] },
};
type Seen = Parameters<typeof judgeCompiled>[1];
const judge = (given: Pick<Advisory, 'claims'>, product: Seen) => judgeCompiled(compileAdvisory(given), product);
const advisory = (more: Partial<ProductClaim> = {}): Pick<Advisory, 'claims'> => ({ claims: [{ ...claim, ...more }] });
const nginx = { keys: ['cpe:f5:nginx'], version: '1.18.0', platform: null };

describe('pitfall', () => {
  it('38: a product without a version, a distribution’s build and a hosted service are not affected for sure', () => {
    assert.equal(judge(advisory(), nginx).verdict, 'affected');
    assert.equal(judge(advisory(), { ...nginx, version: null }).verdict, 'possible');
    assert.equal(judge(advisory(), { ...nginx, platform: 'ubuntu' }).reason, 'backport');
    assert.equal(judge(advisory(), { ...nginx, keys: ['cpe:cloudflare:cloudflare'] }).verdict, 'unaffected');
    const hosted = rulebook.providers.get('wordpress-com');
    assert.deepEqual([hosted?.cpe, hosted?.packages, hosted?.cna], [[], [], []]);
  });

  it('39: what a configuration only runs on is not affected, and ends of ranges are as they are written', () => {
    const name = (product: string) => `cpe:2.3:a:${product}:*:*:*:*:*:*:*:*`;
    const range = { to: { version: '1.20.1', isInclusive: false } };
    const children = [
      { kind: 'cpe', name: name('f5:nginx'), isVulnerable: false, range },
      { kind: 'cpe', name: name('acme:module'), isVulnerable: true, range: {} },
    ] as const;
    const root = { kind: 'node', operator: 'AND', isNegated: false, children } as const;
    const configuration = { kind: 'configuration', source: 'nvd', products: ['cpe:acme:module'], root } as const;
    assert.equal(judge({ claims: [configuration] }, nginx).reason, 'other_product');
    const verdict = (version: string) => judge(advisory(), { ...nginx, version }).verdict;
    assert.deepEqual(['1.20.0', '1.20.1', '1.20.2'].map(verdict), ['affected', 'unaffected', 'unaffected']);
  });

  it('40: without NVD’s words the ranges of the CNA decide, and the match says whose they are', () => {
    assert.equal(judge(advisory(), nginx).rangeSource, 'cna');
    assert.equal(judge(advisory({ source: 'ghsa' }), nginx).rangeSource, 'ghsa');
  });
});
