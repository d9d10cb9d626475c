// What was measured and what was not: only `absent` may end a provider, so every doubt must read as `unmeasured`.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import type { Profile } from './profile.ts';
import { aliasTo, type EvidenceParts, everyRecord, evidenceOf } from './test/evidence-of.ts';
import { noLabels, testRulebook } from './test/rulebook-of.ts';

const seen = { named: noLabels, addresses: [{ asn: 64511 }], http: {}, tls: { issuer: 'Nobody known' } };
const profileOf = (parts: EvidenceParts = {}): Profile => detect(evidenceOf({ ...seen, ...parts }), testRulebook);

describe('a domain where every look-up was answered', () => {
  it('has no source and no role unmeasured', () => {
    const { sources, roles, state } = profileOf();
    assert.equal(state, 'active');
    for (const measurement of [...Object.values(sources), ...Object.values(roles)]) {
      assert.ok(measurement === 'observed' || measurement === 'absent', measurement);
    }
  });
});

describe('a failed look-up', () => {
  const table: [
    parts: EvidenceParts,
    sources: (keyof Profile['sources'])[],
    roles: (keyof Profile['roles'] | Profile['services'][number]['role'])[],
  ][] = [
    [{ ns: 'timeout' }, ['ns'], ['dns']],
    [{ soa: 'servfail' }, ['soa'], ['dns']],
    [{ mx: 'servfail' }, ['mx'], ['mailbox', 'gateway']],
    [{ txt: 'refused' }, ['txt', 'spf'], ['sender', 'verified']],
    [{ dmarc: 'malformed' }, ['dmarc'], ['gateway']],
    [{ caa: 'timeout' }, ['caa'], ['issuer']],
    [{ www: 'timeout' }, ['cname'], ['origin', 'edge']],
    [{ a: 'timeout' }, ['cname', 'asn'], ['origin', 'edge']],
    [{ named: { ...noLabels, support: 'timeout' } }, ['cname'], ['verified']],
    [{ named: {} }, ['cname'], ['verified']],
    [{ addresses: [{ asn: null, status: 'servfail' }] }, ['asn'], ['origin', 'edge']],
    [{ addresses: [{ asn: 64511 }, { asn: null, status: 'timeout', use: 'mail' }] }, ['asn'], ['origin']],
    [{ addresses: [] }, ['asn'], ['origin']],
    [{ http: { status: 'timeout' } }, ['header', 'cookie', 'html'], ['platform', 'protection']],
    [{ http: { statusCode: 503 } }, ['header', 'cookie', 'html'], ['platform']],
    [{ tls: { status: 'timeout', issuer: null } }, ['tls'], ['issuer']],
  ];
  for (const [parts, sources, roles] of table) {
    it(`${JSON.stringify(parts).slice(0, 60)} leaves ${sources} unmeasured`, () => {
      const profile = profileOf(parts);
      for (const source of sources) assert.equal(profile.sources[source], 'unmeasured', source);
      for (const role of roles) assert.equal(profile.roles[role as keyof Profile['roles']], 'unmeasured', role);
    });
  }

  it('does not take away what other evidence shows', () => {
    const { sources, roles, services } = profileOf({
      named: { ...noLabels, support: 'timeout' },
      www: aliasTo('x.deploy.test'),
    });
    assert.equal(sources.cname, 'unmeasured');
    assert.equal(roles.origin, 'observed');
    assert.equal(services[0]?.provider, 'deploy');
  });

  it('of a label that the rulebook does not ask for takes nothing away, and its alias gives nothing', () => {
    for (const former of ['timeout', 'skipped', aliasTo('gone.test')] as const) {
      assert.equal(profileOf({ named: { ...noLabels, former } }).sources.cname, profileOf().sources.cname);
    }
  });
  it('of the wildcard leaves the answers as they are', () => {
    const profile = profileOf({ wildcardTxt: 'timeout', named: { ...noLabels, support: aliasTo('helpdesk.test') } });
    assert.equal(profile.services[0]?.provider, 'helpdesk');
  });
});

describe('policies that SPF leads to', () => {
  const chain = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}.test`, [`v=spf1 include:n${i + 1}.test -all`]]));
  const wide = Array.from({ length: 25 }, (_, i) => `n${i}.test`);
  const wideRecord = `v=spf1 ${wide.map((name) => `include:${name}`).join(' ')} -all`;
  const asked = Object.fromEntries(wide.slice(0, 20).map((name) => [name, 'empty' as const]));
  const table: [what: string, parts: EvidenceParts, measurement: 'observed' | 'unmeasured'][] = [
    ['all seen', { txt: ['v=spf1 include:n0.test -all'], spf: { 'n0.test': ['v=spf1 -all'] } }, 'observed'],
    ['of which one failed', { txt: ['v=spf1 include:n0.test -all'], spf: { 'n0.test': 'timeout' } }, 'unmeasured'],
    ['of which the first was not asked for', { txt: ['v=spf1 include:n0.test -all'], spf: {} }, 'unmeasured'],
    ['of which the third was not asked for', { txt: ['v=spf1 redirect=n0.test'], spf: chain(2) }, 'unmeasured'],
    ['of which nobody asked, as of old', { txt: ['v=spf1 include:n0.test -all'] }, 'observed'],
    ['deeper than anybody asks', { txt: ['v=spf1 include:n0.test -all'], spf: chain(10) }, 'observed'],
    ['more than anybody asks', { txt: [wideRecord], spf: asked }, 'observed'],
    ['that depend on the mail', { txt: ['v=spf1 include:%{d}.n0.test include:local -all'], spf: {} }, 'observed'],
  ];
  for (const [what, parts, measurement] of table) {
    it(`${what}: SPF is ${measurement}`, () => {
      const { sources, roles } = profileOf(parts);
      assert.equal(sources.spf, measurement);
      assert.equal(roles.sender, measurement === 'observed' ? 'absent' : 'unmeasured');
    });
  }
});

const noWeb: EvidenceParts = { http: { status: 'failed' }, tls: { status: 'failed', issuer: null } };

describe('measured absence', () => {
  it('is a domain without addresses: no web source waits for it', () => {
    const { sources, roles } = profileOf({ a: 'empty', addresses: [], ...noWeb });
    const { asn, header, cookie, html, tls } = sources;
    assert.deepEqual(new Set([asn, header, cookie, html, tls, roles.origin]), new Set(['absent']));
  });
  it('is SPF in a zone whose TXT records are others', () => {
    const { sources } = profileOf({ txt: ['hello'] });
    assert.deepEqual([sources.txt, sources.spf], ['observed', 'absent']);
  });
  it('is the web platform of a domain that redirects to another owner', () => {
    const { sources, roles } = profileOf({ http: { url: 'https://other.test/' } });
    assert.equal(sources.html, 'absent');
    assert.equal(roles.platform, 'absent');
  });
  it('is everything under a name that does not exist', () => {
    const profile = profileOf({ ...everyRecord('nxdomain'), addresses: [], http: { status: 'failed' } });
    assert.equal(profile.state, 'nonexistent');
    assert.deepEqual(new Set(Object.values(profile.sources)), new Set(['absent']));
    assert.deepEqual(new Set(Object.values(profile.roles)), new Set(['absent']));
    assert.equal(profile.security.score, null);
  });
});

describe('a domain that could not be resolved', () => {
  const failed: EvidenceParts = { ...everyRecord('servfail'), soa: 'timeout', mx: 'timeout' };

  it('is unmeasured, and so is every role that rests on its records', () => {
    const { state, roles, security } = profileOf({ ...failed, www: 'servfail', addresses: [], ...noWeb });
    assert.equal(state, 'unmeasured');
    for (const [role, measurement] of Object.entries(roles)) assert.equal(measurement, 'unmeasured', role);
    assert.equal(security.score, null);
  });
  it('exists as soon as one of its look-ups was answered', () =>
    assert.equal(profileOf({ ...failed, txt: 'empty' }).state, 'active'));

  it('is not nonexistent for one NXDOMAIN beside an answer', () =>
    assert.equal(profileOf({ ...failed, a: 'nxdomain', ns: ['ns1.dnsco.test'] }).state, 'active'));
});
