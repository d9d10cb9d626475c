// Who receives, keeps and sends mail, and names: one row for each case in which records are commonly misread.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { evidenceOf } from '../test/evidence-of.ts';
import { aliasTo, type EvidenceParts, linesOf, noLabels, profileOf, rowsOf, servicesOf } from '../test/index.ts';
import { testRulebook } from '../test/rulebook-of.ts';
import { idleLabels } from './idle-labels.ts';

const googlyMx: EvidenceParts = { mx: ['1 aspmx.l.googly.test', '5 alt1.aspmx.l.googly.test'] };
const guardMx: EvidenceParts = { mx: ['10 mxa.guard.test', '10 mxb.guard.test'] };
const autodiscover: EvidenceParts = { named: { autodiscover: aliasTo('autodiscover.micro.test') } };
const dangling = { status: 'nxdomain' as const, records: [], aliases: ['s1.dkim.sendy.test'] };
const danglingDkim: EvidenceParts = { named: { 's1._domainkey': dangling } };
const policy = (...includes: readonly string[]) => `v=spf1 ${includes.map((host) => `include:${host} `).join('')}-all`;
const spf = (...includes: readonly string[]): EvidenceParts => ({ txt: [policy(...includes)] });
const GOOGLY = '_spf.googly.test';
const guard = 'email_security guard high';
const sendy = 'email_sending sendy medium';
const merged = (parts: readonly EvidenceParts[]): EvidenceParts => Object.assign({}, ...parts);
const shows = (services: string, ...parts: EvidenceParts[]) => assert.equal(servicesOf(merged(parts)), services);
/** The measurement of the mailbox too. */
const showsMailbox = (mailbox: string, services: string, ...parts: EvidenceParts[]) =>
  assert.deepEqual([servicesOf(merged(parts)), profileOf(merged(parts)).roles.mailbox], [services, mailbox]);

rowsOf('mailbox', shows);
rowsOf('mailbox measured', showsMailbox);
it('the mailbox is corroborated by its own SPF include, as a gateway is, which then is no service of its own', () => {
  const scored = (...parts: EvidenceParts[]) => {
    const { services } = profileOf(merged(parts));
    return [linesOf(services).join(), services[0]?.score];
  };
  assert.deepEqual(scored(googlyMx, spf(GOOGLY)), ['email googly high', 0.988]);
  assert.deepEqual(scored(guardMx, spf('spf.guard.test')), [guard, 0.99]);
});
it('the mailbox is not moved to the provider of DKIM or an include while the exchange cannot be looked up', () => {
  const { services, roles } = profileOf({ mx: 'servfail', ...autodiscover, ...spf(GOOGLY) });
  assert.deepEqual([services, roles.mailbox, roles.sender], [[], 'unmeasured', 'unmeasured']);
});
it('the mailbox is not shown by an include while a selector that would show it cannot be looked up', () => {
  const named = { 'selector1._domainkey': 'timeout' } as const;
  const { services, roles } = profileOf({ ...guardMx, ...spf(GOOGLY, 'sendy.test'), named });
  assert.deepEqual([linesOf(services), roles.sender], [[guard, sendy], 'unmeasured']);
});

rowsOf('gateway', shows);
it('a gateway does not become a sender while its exchange or its reports cannot be looked up', () => {
  for (const parts of [{ mx: 'timeout' }, { dmarc: 'timeout' }] as const) {
    const { services, roles } = profileOf({ ...parts, ...spf('spf.guard.test') });
    assert.deepEqual([services, roles.sender], [[], 'unmeasured']);
  }
});

rowsOf('record vendors and senders', shows);
it('record vendors and senders are supported by a dangling DKIM alias where something else shows the sender', () => {
  const { services } = profileOf({ ...danglingDkim, ...spf('sendy.test') });
  assert.deepEqual([services.length, services[0]?.evidence.length], [1, 2]);
});
it('record vendors and senders are unmeasured while a policy behind the record cannot be had', () => {
  const senderWith = (found: 'timeout' | readonly string[]) =>
    profileOf({ named: noLabels, ...spf('_spf.reseller.test'), spf: { '_spf.reseller.test': found } }).roles.sender;
  assert.deepEqual([senderWith('timeout'), senderWith(['v=spf1 -all'])], ['unmeasured', 'absent']);
});

rowsOf('split policy', shows);

const soaOf = (mname: string, rname: string) => [{ mname, rname, serial: 1 }];
const own = ['ns1.example.com'];
rowsOf('dns', shows);
it('dns behind vanity name servers is not absent while their addresses are unknown', () => {
  const dnsOf = (address: NonNullable<EvidenceParts['addresses']>[number]) =>
    profileOf({ ns: own, addresses: [{ asn: 64511 }, address] }).roles.dns;
  assert.equal(dnsOf({ use: 'ns', asn: null, address: '', status: 'timeout' }), 'unmeasured');
  assert.equal(dnsOf({ use: 'ns', asn: 64511 }), 'absent');
});
it('dns is not a parking provider that only the SOA still names', () => {
  const profile = profileOf({ ns: own, soa: soaOf('ns1.parker.test', 'x.example.com') });
  assert.deepEqual([profile.state, profile.services.length], ['active', 0]);
});

const titled = (title: string): EvidenceParts => ({ http: { page: { title } } });
const is = (state: string, parts: EvidenceParts, services?: string) => {
  const profile = profileOf(parts);
  assert.equal(profile.state, state);
  if (services) assert.deepEqual(linesOf(profile.services), [services]);
};
rowsOf('state of a domain', is);
it('a domain is parked by a title that offers the name, or may, and by no other title', () => {
  for (const title of ['example.com is for sale', 'Example.com - Domain for sale!', 'example.com may be for sale'])
    is('parked', titled(title));
  const unrelated = ['Houses for sale', 'The boat is for sale', 'Domain for sale? How to sell your domain name', ''];
  for (const title of unrelated) is('active', titled(title));
});

it('labels of mailboxes are idle where the exchanges decide, and their answers change nothing there', () => {
  const idle = (parts: EvidenceParts) => [...idleLabels(evidenceOf(parts).dns.mx, testRulebook)].join();
  for (const parts of [googlyMx, { mx: 'empty' }] as const) {
    assert.match(idle(parts), /autodiscover/);
    shows(servicesOf(parts), parts, autodiscover);
  }
  const micro: EvidenceParts = { mx: ['1 mail.micro.test'] };
  for (const parts of [guardMx, micro, { mx: 'timeout' }] as const) assert.doesNotMatch(idle(parts), /autodiscover/);
});

const wildcard = ['v=DMARC1; p=reject; rua=mailto:x@rua.dmarcer.test'];
const everything = aliasTo('x.onmicro.test');
const support = aliasTo('helpdesk.test');
it('a wildcard zone answers _dmarc as it answers anything, which proves nothing', () => {
  const profile = profileOf({ dmarc: wildcard, wildcardTxt: wildcard });
  assert.deepEqual([profile.services, profile.sources.dmarc], [[], 'absent']);
  // A receiver that asks gets the policy all the same.
  assert.equal(profile.security.dmarc.policy, 'reject');
});
it('a wildcard zone answers named labels with its alias, which proves nothing', () => {
  shows('', { named: { 'selector1._domainkey': everything }, wildcardTxt: everything });
  shows('', { named: { support }, wildcardA: support });
});
it('a wildcard zone does not hide an answer that differs from it', () => {
  const dmarc = ['v=DMARC1; p=none; rua=mailto:y@rua.dmarcer.test'];
  shows('email_security dmarcer high', { dmarc, wildcardTxt: wildcard });
  shows('verified_service helpdesk high', { named: { support }, wildcardA: ['192.0.2.1'] });
});
it('a wildcard zone compares records as a set', () => {
  const profile = profileOf({ dmarc: ['b', ...wildcard], wildcardTxt: [...wildcard, 'b'] });
  assert.deepEqual([profile.services, profile.sources.dmarc], [[], 'absent']);
});
