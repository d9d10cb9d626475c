// What was measured and what was not: only `absent` may end a provider, so every doubt must read as `unmeasured`.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { detect } from '../detect.ts';
import { HOLDERS, type Holder, MAIN_ROLES, type MainRole, type Profile } from '../profile.ts';
import { aliasTo, type EvidenceParts, everyRecord, evidenceOf } from '../test/evidence-of.ts';
import { rows } from '../test/rows.ts';
import { linesOf, noLabels, testRulebook } from '../test/rulebook-of.ts';
import { packHolders } from './holders.ts';
import { stillParked } from './still-parked.ts';

const measuredWeb = { named: noLabels, addresses: [{ asn: 64511 }], http: {}, tls: { issuer: 'Unknown CA' } };
const profileOf = (parts: EvidenceParts = {}): Profile =>
  detect(evidenceOf({ ...measuredWeb, ...parts }), testRulebook);

const measurementsIn = ({ sources, roles }: Profile) => new Set(Object.values({ ...sources, ...roles }));

it('a domain where every look-up was answered has no source and no role unmeasured', () => {
  const profile = profileOf();
  assert.deepEqual([profile.state, measurementsIn(profile)], ['active', new Set(['observed', 'absent'])]);
});

const leaves = (sources: string, roles: string, ...failures: EvidenceParts[]) => {
  for (const parts of failures) {
    it(`a failed look-up ${JSON.stringify(parts).slice(0, 60)} leaves ${sources} unmeasured`, () => {
      const profile = profileOf(parts);
      const found = Object.entries({ ...profile.sources, ...profile.roles });
      const unmeasured = new Set(found.flatMap(([name, measurement]) => (measurement === 'unmeasured' ? name : [])));
      assert.deepEqual(new Set(`${sources} ${roles}`.split(' ')).difference(unmeasured), new Set());
    });
  }
};
leaves('ns', 'dns', { ns: 'timeout' });
leaves('soa', 'dns', { soa: 'servfail' });
leaves('mx', 'mailbox gateway', { mx: 'servfail' });
leaves('txt spf', 'sender verified', { txt: 'refused' });
leaves('dmarc', 'dmarc_reports', { dmarc: 'malformed' });
leaves('caa', 'issuer', { caa: 'timeout' });
leaves('cname', 'origin edge', { www: 'timeout' }, { a: 'timeout' });
leaves('cname', 'verified', { named: { ...noLabels, support: 'timeout' } }, { named: {} });
leaves('asn', 'origin edge', { a: 'timeout' }, { addresses: [{ asn: null, status: 'servfail' }] });
const mail = { asn: null, status: 'timeout', use: 'mail' } as const;
leaves('asn', 'origin', { addresses: [{ asn: 64511 }, mail] }, { addresses: [] });
leaves('header cookie html', 'platform protection', { http: { status: 'timeout' } });
leaves('header cookie html', 'platform', { http: { statusCode: 503 } });
leaves('tls', 'issuer', { tls: { status: 'timeout', issuer: null } });
it('a failed look-up does not take away what other evidence shows', () => {
  const named = { ...noLabels, support: 'timeout' } as const;
  const { sources, roles, services } = profileOf({ named, www: aliasTo('x.deploy.test') });
  assert.deepEqual([sources.cname, roles.origin, services[0]?.provider], ['unmeasured', 'observed', 'deploy']);
});
it('a failed look-up of a label that the rulebook does not ask for takes nothing away, and its alias gives nothing', () => {
  for (const former of ['timeout', 'skipped', aliasTo('absent.test')] as const)
    assert.equal(profileOf({ named: { ...noLabels, former } }).sources.cname, profileOf().sources.cname);
});
it('a failed look-up of the wildcard leaves the answers as they are', () => {
  const profile = profileOf({ wildcardTxt: 'timeout', named: { ...noLabels, support: aliasTo('helpdesk.test') } });
  assert.equal(profile.services[0]?.provider, 'helpdesk');
});

describe('policies that SPF leads to', () => {
  const chain = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}.test`, [`v=spf1 include:n${i + 1}.test -all`]]));
  const wide = Array.from({ length: 25 }, (_, i) => `n${i}.test`);
  const wideRecord = `v=spf1 ${wide.map((name) => `include:${name}`).join(' ')} -all`;
  const asked = Object.fromEntries(wide.slice(0, 20).map((name) => [name, 'empty' as const]));
  const include = { txt: ['v=spf1 include:n0.test -all'] };
  const spfIs = (measurement: 'observed' | 'unmeasured', parts: EvidenceParts) => {
    const { sources, roles } = profileOf(parts);
    assert.deepEqual([sources.spf, roles.sender], [measurement, measurement === 'observed' ? 'absent' : 'unmeasured']);
  };
  rows(spfIs, [
    ['all measured', 'observed', { ...include, spf: { 'n0.test': ['v=spf1 -all'] } }],
    ['of which one failed', 'unmeasured', { ...include, spf: { 'n0.test': 'timeout' } }],
    ['of which the first was not asked for', 'unmeasured', { ...include, spf: {} }],
    ['of which the third was not asked for', 'unmeasured', { txt: ['v=spf1 redirect=n0.test'], spf: chain(2) }],
    ['without queries, as in evidence of earlier probes', 'observed', include],
    ['deeper than the limit', 'observed', { ...include, spf: chain(10) }],
    ['more than the limit', 'observed', { txt: [wideRecord], spf: asked }],
    ['that depend on the mail', 'observed', { txt: ['v=spf1 include:%{d}.n0.test include:local -all'], spf: {} }],
  ]);
});

const noWeb: EvidenceParts = { http: { status: 'failed' }, tls: { status: 'failed', issuer: null } };

it('measured absence is a domain without addresses: no web source waits for it', () => {
  const { sources, roles } = profileOf({ a: 'empty', addresses: [], ...noWeb });
  const { asn, header, cookie, html, tls } = sources;
  assert.deepEqual(new Set([asn, header, cookie, html, tls, roles.origin]), new Set(['absent']));
});
it('measured absence is SPF in a zone with other TXT records', () => {
  const { sources } = profileOf({ txt: ['hello'] });
  assert.deepEqual([sources.txt, sources.spf], ['observed', 'absent']);
});
it('measured absence is the web platform of a domain that redirects to another owner', () => {
  const { sources, roles } = profileOf({ http: { url: 'https://other.test/' } });
  assert.deepEqual([sources.html, roles.platform], ['absent', 'absent']);
});
it('measured absence is everything under a name that does not exist', () => {
  const profile = profileOf({ ...everyRecord('nxdomain'), addresses: [], http: { status: 'failed' } });
  assert.deepEqual([profile.state, profile.security.score], ['nonexistent', null]);
  assert.deepEqual(measurementsIn(profile), new Set(['absent']));
});

const failed: EvidenceParts = { ...everyRecord('servfail'), soa: 'timeout', mx: 'timeout' };
it('a domain that could not be resolved is unmeasured, and so is every role that depends on its records', () => {
  const { state, roles, security } = profileOf({ ...failed, www: 'servfail', addresses: [], ...noWeb });
  assert.deepEqual([state, ...new Set(Object.values(roles)), security.score], ['unmeasured', 'unmeasured', null]);
});
it('a domain that could not be resolved exists as soon as one of its look-ups was answered, also beside an NXDOMAIN', () => {
  assert.equal(profileOf({ ...failed, txt: 'empty' }).state, 'active');
  assert.equal(profileOf({ ...failed, a: 'nxdomain', ns: ['ns1.dnsco.test'] }).state, 'active');
});

const complete: EvidenceParts = {
  ...{ ns: ['ns1.dnsco.test'], txt: ['v=spf1 include:sendy.test -all', 'socially-verification=1'] },
  ...{ tls: { issuer: 'Certy' }, http: { page: { title: 'example.com is for sale' } } },
};
const noPage: EvidenceParts = { http: { status: 'timeout', url: null, statusCode: null } };
const parkedWith = (parts: EvidenceParts = {}) => detect(evidenceOf({ ...complete, ...parts }), testRulebook);
const before = { state: 'parked', rulebook: testRulebook.version };
it('a domain that was parked is still while its page, its name servers or its exchanges cannot be had, and brings nothing in', () => {
  assert.equal(parkedWith().state, 'parked');
  const wall: EvidenceParts = { http: { status: 'blocked', statusCode: 403 } };
  for (const failure of [noPage, wall, { http: { statusCode: 503 } }, { mx: 'timeout' } as const]) {
    const kept = stillParked(parkedWith(failure), before);
    assert.deepEqual([kept.state, linesOf(kept.services)], ['parked', ['dns dnsco high']], JSON.stringify(failure));
    assert.deepEqual([kept.roles.sender, kept.roles.dns], ['unmeasured', 'observed']);
  }
});
it('a domain that was parked is in use once everything was measured, or under other rules', () => {
  const [inUse, unseen] = [parkedWith({ http: { page: { title: 'Welcome' } } }), parkedWith(noPage)];
  assert.equal(stillParked(inUse, before), inUse);
  for (const other of [{ rulebook: 'another' }, { state: 'active' }] as const)
    assert.equal(stillParked(unseen, { ...before, ...other }), unseen);
});

const roles = MAIN_ROLES;
/**
 * Measured completely: all labels, the networks of web and mail without a known owner, a certificate of an unknown
 * issuer.
 */
const measured: EvidenceParts = {
  addresses: [{ asn: 64997 }, { asn: 64998, use: 'mail' }, { asn: 64996, use: 'ns' }],
  ...{ named: noLabels, tls: { issuer: 'Unknown CA' } },
};
const holdersOf = (parts: EvidenceParts) => detect(evidenceOf({ ...measured, ...parts }), testRulebook).holders;

const table: [why: string, parts: EvidenceParts, role: MainRole, holder: Holder][] = casesOf('detect', 'holders');
for (const [why, parts, role, holder] of table)
  it(`the holder is ${holder} for ${role} with ${why}`, () => assert.equal(holdersOf(parts)[role], holder));
it('a name that does not exist has no holder in any role, and unmeasured ones if that is unknown', () => {
  assert.deepEqual(new Set(Object.values(holdersOf(everyRecord('nxdomain')))), new Set(['nobody']));
  const { dns, mailbox, origin } = holdersOf(everyRecord('timeout'));
  assert.deepEqual(new Set([dns, mailbox, origin]), new Set(['unmeasured']));
});
it('holders as one integer return each holder at its index', () => {
  const each = fc.record(Object.fromEntries(roles.map((role) => [role, fc.constantFrom(...HOLDERS)])));
  holds(100, [each as fc.Arbitrary<Record<MainRole, Holder>>], (given) => {
    const bits = packHolders(given);
    assert.ok(Number.isInteger(bits) && bits >= 0 && bits < 2 ** 31);
    assert.deepEqual(Object.fromEntries(roles.map((role, i) => [role, HOLDERS[(bits >>> (3 * i)) & 7]])), { ...given });
  });
});
