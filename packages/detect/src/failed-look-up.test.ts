// The promise of decision 3 over detection and history together: a failed look-up makes no change, however often it fails.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { detect } from './detect.ts';
import type { Evidence } from './evidence.ts';
import { type KnownService, reconcile } from './history.ts';
import { SOURCES } from './profile.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { testRulebook } from './test/rulebook-of.ts';

const HOUR = 3_600_000;
const options = { confirmAfterMs: 6 * HOUR, measuredBefore: new Set(SOURCES) };
const labels = testRulebook.probeLabels;

type LookUp = NonNullable<EvidenceParts['www']>;

const some = <T>(...values: T[]) => fc.subarray(values);
const one = <T>(...values: T[]) => fc.constantFrom<T[]>(...values);

const namedTarget = one<LookUp>('nxdomain', aliasTo('x.onmicro.test'), aliasTo('autodiscover.micro.test'));

/** A domain made of what the test catalog knows, all of it measured. Parking is left out, see docs/detection.md. */
const parts: fc.Arbitrary<EvidenceParts> = fc.record({
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
  spf: fc.record({
    '_spf.reseller.test': one(
      ['v=spf1 include:_spf.googly.test ~all'],
      ['v=spf1 include:spf.micro.test include:_spf.googly.test ~all'],
      ['v=spf1 include:sendy.test ~all'],
    ),
  }),
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
  tls: one({ issuer: 'Certy' }, { issuer: 'Signly Trust' }, { issuer: 'Nobody' }),
});

const failures: Record<string, (whole: EvidenceParts) => EvidenceParts> = {
  ns: () => ({ ns: 'timeout' }),
  soa: () => ({ soa: 'servfail' }),
  mx: () => ({ mx: 'servfail' }),
  txt: () => ({ txt: 'timeout' }),
  dmarc: () => ({ dmarc: 'refused' }),
  caa: () => ({ caa: 'malformed' }),
  www: () => ({ www: 'timeout' }),
  apex: () => ({ a: 'timeout', addresses: [] }),
  'one named label': ({ named }) => ({ named: { ...named, 'selector1._domainkey': 'timeout' } }),
  'every named label': () => ({ named: Object.fromEntries(labels.map((label) => [label, 'servfail' as const])) }),
  'the network': ({ addresses = [] }) => ({
    addresses: addresses.map(() => ({ asn: null, status: 'timeout' as const })),
  }),
  'the network of one address': ({ addresses = [] }) => ({
    addresses: addresses.map((each, i) => (i === 0 ? { ...each, asn: null, status: 'timeout' as const } : each)),
  }),
  aaaa: () => ({ aaaa: 'timeout' }),
  'a policy behind the SPF record': ({ spf = {} }) => ({
    spf: Object.fromEntries(Object.keys(spf).map((name) => [name, 'timeout' as const])),
  }),
  'the page': () => ({ http: { status: 'timeout', statusCode: null, url: null } }),
  'a page behind a wall': () => ({ http: { status: 'blocked', statusCode: 403, headers: { date: 'today' } } }),
  'a page with an error': () => ({ http: { statusCode: 503 } }),
  'a page with an error of another owner': () => {
    const page = { metas: { generator: 'Blogger' }, title: 'example.com is for sale' };
    return { http: { statusCode: 503, headers: { server: 'Deploy' }, page } };
  },
  'the certificate': () => ({ tls: { status: 'timeout', issuer: null } }),
};

describe('a look-up that fails again and again makes no change:', () => {
  for (const [name, fail] of Object.entries(failures)) {
    it(name, () => {
      fc.assert(
        fc.property(parts, (whole) => {
          const first = observe([], evidenceOf(whole), 0).open;
          let known: readonly KnownService[] = first.map((service) => ({ ...service, status: 'confirmed' as const }));
          for (const hours of [24, 48, 72]) {
            const { changes, open } = observe(known, evidenceOf({ ...whole, ...fail(whole) }), hours);
            assert.deepEqual(changes, []);
            known = open;
          }
          assert.deepEqual(observe(known, evidenceOf(whole), 96).changes, [], 'nor does its end');
        }),
        { numRuns: 150 },
      );
    });
  }
});

function observe(known: readonly KnownService[], evidence: Evidence, hours: number) {
  const observedAt = new Date(Date.parse('2026-01-01T00:00:00Z') + hours * HOUR).toISOString();
  return reconcile(known, detect({ ...evidence, observedAt }, testRulebook), options);
}
