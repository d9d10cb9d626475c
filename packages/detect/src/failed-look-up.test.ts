// The guarantee of decision 3 over detection and history together: a failed look-up makes no change, however often it
// fails. Includes community sets with requirements, exclusions and implications, and long pages.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../tests/support/property.ts';
import { casesOf } from '../../../tests/support/vectors.ts';
import { detect } from './detect.ts';
import { extractPage } from './evidence/page.ts';
import type { KnownService } from './history/known-service.ts';
import { reconcile } from './history/reconcile.ts';
import { SOURCES } from './profile.ts';
import { aliasTo, type EvidenceParts, evidenceOf, rulebookWith, testRulebook } from './test/index.ts';

const DAY = 86_400_000;
const labels = testRulebook.probeLabels;
type LookUp = NonNullable<EvidenceParts['www']>;
type Fail = (complete: EvidenceParts) => EvidenceParts;

const some = <T>(...values: T[]) => fc.subarray(values);
const one = <T>(...values: T[]) => fc.constantFrom<T[]>(...values);
const namedTarget = one<LookUp>('nxdomain', aliasTo('x.onmicro.test'), aliasTo('autodiscover.micro.test'));

const RESOLD = ['include:_spf.googly.test', 'include:spf.micro.test include:_spf.googly.test', 'include:sendy.test'];
/** A domain made of what the test catalog knows, all of it measured. Parking is left out, see docs/detection.md. */
const catalogParts: fc.Arbitrary<EvidenceParts> = fc.record({
  ns: some('ns1.dnsco.test', 'ns-7.awsdns-12.test', 'ns1.example.com'),
  soa: fc.constant([{ mname: 'ns1.example.com', rname: 'hostmaster.dnsco.test', serial: 1 }]),
  mx: some('10 aspmx.l.googly.test', '10 a.mail.micro.test', '10 mx.guard.test', '20 mail.example.com'),
  txt: some(
    'v=spf1 include:_spf.googly.test include:spf.guard.test -all',
    'v=spf1 include:spf.micro.test include:sendy.test ~all',
    'v=spf1 include:_spf.reseller.test ~all',
    'googly-account=1',
    'socially-verification=1',
  ),
  spf: fc.record({ '_spf.reseller.test': one(...RESOLD.map((includes) => [`v=spf1 ${includes} ~all`])) }),
  aaaa: one<LookUp>('empty', ['2001:db8::1'], aliasTo('x.edgy.test')),
  dmarc: some('v=DMARC1; p=none; rua=mailto:x@rua.dmarcer.test'),
  caa: some('0 issue certy.test', '0 issue signly.test'),
  www: one<LookUp>('empty', ['192.0.2.1'], aliasTo('x.edgy.test'), aliasTo('x.deploy.test'), aliasTo('lb.cloudy.test')),
  named: fc.record(Object.fromEntries(labels.map((label) => [label, namedTarget]))),
  addresses: fc
    .tuple(one(64499, 64496, 64511), one(64499, 64496, 64511), one(64502, 64511))
    .map(([web, www, ns]) => [
      { asn: web },
      { asn: www, use: 'www' as const, address: '192.0.2.2' },
      { asn: 64511, use: 'mail' as const, address: '192.0.2.3' },
      { asn: ns, use: 'ns' as const, address: '192.0.2.4' },
    ]),
  http: fc.record({
    headers: one({}, { 'x-edgy-ray': '1' }, { 'x-deploy-id': '1', 'x-waffle': '1' }, { 'x-powered-by': 'Blogger' }),
    cookies: some('waffle_ses_1', 'blog_session'),
    page: fc.record({ assets: some('https://tags.tagman.test/gtm.js', 'https://a.test/blog-content/x.js') }),
  }),
  tls: one({ issuer: 'Certy' }, { issuer: 'Signly Trust' }, { issuer: 'Unlisted' }),
});

const unknown = { asn: null, status: 'timeout' as const };
const PAGE: Record<string, Fail> = {
  'the page': () => ({ http: { status: 'timeout', statusCode: null, url: null } }),
  'a page behind a wall': () => ({ http: { status: 'blocked', statusCode: 403, headers: { date: 'today' } } }),
  'a page with an error': () => ({ http: { statusCode: 503 } }),
};
const FAILURES: Record<string, Fail> = {
  ...PAGE,
  ...{ ns: () => ({ ns: 'timeout' }), soa: () => ({ soa: 'servfail' }), mx: () => ({ mx: 'servfail' }) },
  ...{ txt: () => ({ txt: 'timeout' }), dmarc: () => ({ dmarc: 'refused' }), caa: () => ({ caa: 'malformed' }) },
  ...{ www: () => ({ www: 'timeout' }), aaaa: () => ({ aaaa: 'timeout' }) },
  apex: () => ({ a: 'timeout', addresses: [] }),
  'one named label': ({ named }) => ({ named: { ...named, 'selector1._domainkey': 'timeout' } }),
  'every named label': () => ({ named: Object.fromEntries(labels.map((label) => [label, 'servfail' as const])) }),
  'the network': ({ addresses = [] }) => ({ addresses: addresses.map(() => unknown) }),
  'the network of one address': ({ addresses = [] }) => ({
    addresses: addresses.map((each, i) => (i === 0 ? { ...each, ...unknown } : each)),
  }),
  'a policy behind the SPF record': ({ spf = {} }) => ({
    spf: Object.fromEntries(Object.keys(spf).map((name) => [name, 'timeout' as const])),
  }),
  'a page with an error of another owner': () => {
    const page = { metas: { generator: 'Blogger' }, title: 'example.com is for sale' };
    return { http: { statusCode: 503, headers: { server: 'Deploy' }, page } };
  },
  'the certificate': () => ({ tls: { status: 'timeout', issuer: null } }),
};

const community = rulebookWith(casesOf<Parameters<typeof rulebookWith>[0]>('detect', 'entangled technologies'));

const communityParts: fc.Arbitrary<EvidenceParts> = fc.record({
  ns: some('ns1.delta-names.test', 'ns1.dnsco.test'),
  mx: some('10 mx.postbox.test', '10 aspmx.l.googly.test'),
  txt: some('delta-site=1', 'left=1'),
  www: one<NonNullable<EvidenceParts['www']>>('empty', aliasTo('x.alpha-edge.test'), aliasTo('x.edgy.test')),
  addresses: one([{ asn: 64499 }], [{ asn: 64511 }]),
  http: fc.record({
    headers: one<Record<string, string>>({}, { 'x-beta': '1' }, { 'x-beta': '1', 'x-edgy-ray': '1' }),
    cookies: some('right', 'alpha'),
    page: fc.record({ metas: one<Record<string, string>>({}, { epsilon: '1' }) }),
  }),
});

const COMMUNITY_FAILURES: Record<string, Fail> = {
  ...PAGE,
  ...{ txt: () => ({ txt: 'timeout' }), ns: () => ({ ns: 'servfail' }), www: () => ({ www: 'timeout' }) },
  'all but the page': () => ({ ns: 'timeout', mx: 'timeout', txt: 'timeout', www: 'timeout', addresses: [] }),
};

function changesOver(observations: readonly EvidenceParts[], rulebook: typeof testRulebook) {
  let known: readonly KnownService[] = [];
  return observations.flatMap((observed, day) => {
    const observedAt = new Date(Date.parse('2026-01-01T00:00:00Z') + day * DAY).toISOString();
    const measuredBefore = new Set(day === 0 ? [] : SOURCES);
    const profile = detect({ ...evidenceOf(observed), observedAt }, rulebook);
    const { open, changes } = reconcile(known, profile, { confirmAfterMs: DAY / 4, measuredBefore });
    known = open;
    return changes.map(({ type, from, to }) => ({ day, type, from, to }));
  });
}

for (const [of, parts, failures, rulebook] of [
  ['the catalog', catalogParts, FAILURES, testRulebook],
  ['a community set', communityParts, COMMUNITY_FAILURES, community],
] as const) {
  for (const [name, fail] of Object.entries(failures))
    it(`a look-up that fails again and again makes no change, nor does its end: ${name}, with ${of}`, () =>
      holds(150, [parts], (complete) => {
        const failed = { ...complete, ...fail(complete) };
        assert.deepEqual(changesOver([complete, complete, failed, failed, failed, complete, complete], rulebook), []);
      }));
}
it('a look-up that fails again and again makes no change, nor does its end: one that is excluded by what a page shows does not come when the page fails', () => {
  const complete = { txt: ['delta-site=1'], www: aliasTo('x.alpha-edge.test'), http: { headers: { 'x-beta': '1' } } };
  const found = detect(evidenceOf(complete), community).services.map(({ provider }) => provider);
  assert.deepEqual([found.includes('beta'), found.includes('alpha')], [true, false]);
  const { services, roles } = detect(evidenceOf({ ...complete, ...PAGE['the page']?.(complete) }), community);
  assert.ok(!services.some(({ provider }) => provider === 'alpha' || provider === 'alpha-cloud'));
  assert.equal(roles.edge, 'unmeasured');
});
it('a look-up that fails again and again makes no change, nor does its end: a page that outgrows the search limit', () => {
  const html = [...Array.from({ length: 6 }, (_, i) => `filler[a-z0-9 ]{1,150}x${i}`), 'last-word[^>]{1,200}yy'];
  const book = rulebookWith(Object.fromEntries(html.map((each, i) => [`Fat ${i}`, { cats: [5], html: [each] }])));
  const pageOf = (words: number): EvidenceParts => {
    const source = `${'filler '.repeat(words)}<p>last-word <b title="yy">`;
    return { http: { page: extractPage(source, { url: 'https://a.test/', isTruncated: false, keepSource: true }) } };
  };
  const [short, long] = [pageOf(0), pageOf(9000)];
  const providers = detect(evidenceOf(short), book).services.map(({ provider }) => provider);
  assert.deepEqual(providers, ['fat-6']);
  assert.equal(detect(evidenceOf(long), book).sources.html, 'unmeasured');
  assert.deepEqual(changesOver([short, short, long, long, long], book), []);
});
