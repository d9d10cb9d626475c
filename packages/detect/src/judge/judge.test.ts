// Who receives, keeps and sends mail, and names: one row for each case in which records are commonly misread.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasTo, type EvidenceParts } from '../test/evidence-of.ts';
import { rows } from '../test/rows.ts';
import { linesOf, noLabels, profileOf, servicesOf } from '../test/rulebook-of.ts';

const googlyMx: EvidenceParts = { mx: ['1 aspmx.l.googly.test', '5 alt1.aspmx.l.googly.test'] };
const guardMx: EvidenceParts = { mx: ['10 mxa.guard.test', '10 mxb.guard.test'] };
const ownMx: EvidenceParts = { mx: ['10 mail.example.com'] };
const dkim: EvidenceParts = { named: { 'selector1._domainkey': aliasTo('x.onmicro.test') } };
const autodiscover: EvidenceParts = { named: { autodiscover: aliasTo('autodiscover.micro.test') } };
const both: EvidenceParts = { named: { ...dkim.named, ...autodiscover.named } };
const dangling = { status: 'nxdomain' as const, records: [], aliases: ['s1.dkim.sendy.test'] };
const danglingDkim: EvidenceParts = { named: { 's1._domainkey': dangling } };
const atVps: EvidenceParts = { addresses: [{ use: 'mail', asn: 64501 }] };
const policy = (...includes: readonly string[]) => `v=spf1 ${includes.map((host) => `include:${host} `).join('')}-all`;
const spf = (...includes: readonly string[]): EvidenceParts => ({ txt: [policy(...includes)] });
const GOOGLY_MX = 'aspmx.l.googly.test';
const MICRO_MX = 'a.mail.micro.test';
const mx = (first: number, one: string, second: number, other: string): EvidenceParts => ({
  mx: [`${first} ${one}`, `${second} ${other}`],
});
const MICRO = 'spf.micro.test';
const GOOGLY = '_spf.googly.test';
const googlyToken = [policy(MICRO, GOOGLY), 'googly-account=1'];
const reseller = { '_spf.reseller.test': ['v=spf1 include:deeper.reseller.test ~all'] };
const deeper = { ...reseller, 'deeper.reseller.test': ['v=spf1 ip4:192.0.2.1 include:sendy.test ~all'] };
const ownPolicy = { spf: { [GOOGLY]: [policy('sendy.test')] } };
const circle = {
  'a.test': ['v=spf1 include:b.test ~all'],
  'b.test': ['v=spf1 include:a.test redirect=__proto__ ~all'],
};
const eleven = Array.from({ length: 11 }, (_, i) => `s${i}.example.net`);
const reportsTo = (host: string): EvidenceParts => ({ dmarc: [`v=DMARC1; p=none; rua=mailto:x@${host}`] });
const delegated = { ...aliasTo('example.com.rua.dmarcer.test'), records: ['v=DMARC1; p=none'] };
const elsewhere: EvidenceParts = { named: noLabels, addresses: [{ asn: 64511 }, { asn: 64511, use: 'mail' }] };

const guard = 'email_security guard high';
const sendy = 'email_sending sendy high';
const dmarcer = 'email_security dmarcer high';
const against = `${guard}, email_sending googly high`;
const senders = 'email_sending googly high, email_sending micro high';

const merged = (parts: readonly EvidenceParts[]): EvidenceParts => Object.assign({}, ...parts);
const shows = (services: string, ...parts: EvidenceParts[]) => assert.equal(servicesOf(merged(parts)), services);
/** The measurement of the mailbox too. */
const showsMailbox = (mailbox: string, services: string, ...parts: EvidenceParts[]) =>
  assert.deepEqual([servicesOf(merged(parts)), profileOf(merged(parts)).roles.mailbox], [services, mailbox]);

rows(shows, [
  ['belongs to the provider whose exchange receives the mail', 'email googly high', googlyMx],
  ['is not the forwarding service', 'email_security forwarder high', { mx: ['10 mx1.forwarder.test'] }],
  ['behind a gateway is found by its DKIM selector', `email micro medium, ${guard}`, guardMx, dkim],
  ['behind a gateway is found by autodiscover', `email micro medium, ${guard}`, guardMx, autodiscover],
  ['is high with autodiscover and DKIM together', `email micro high, ${guard}`, guardMx, both],
  ['is low by an include', `email micro low, ${guard}, email_sending micro high`, guardMx, spf(MICRO)],
  ['is unknown where two includes weigh the same', `${guard}, ${senders}`, guardMx, spf(MICRO, GOOGLY)],
  ['is of two includes the token’s', `email googly medium, ${guard}, ${senders}`, guardMx, { txt: googlyToken }],
  ['is decided by two kinds of names against an include', `email micro high, ${against}`, guardMx, both, spf(GOOGLY)],
  ['is not decided by one kind of names', against, guardMx, dkim, spf(GOOGLY)],
  ['is not decided by names while TXT cannot be looked up', guard, guardMx, dkim, { txt: 'timeout' }],
  ['is not where an SPF include points without a gateway', 'email_sending googly high', ownMx, spf(GOOGLY)],
  ['is not a second provider', 'email googly high, email_sending micro high', googlyMx, dkim, spf(MICRO)],
  ['is not shown by an account token alone', '', ownMx, { txt: ['googly-account=1'] }],
  ['is two with equal preference', 'email googly high, email micro high', mx(10, GOOGLY_MX, 10, MICRO_MX)],
  ['is not a backup exchange', 'email micro high', mx(10, MICRO_MX, 50, GOOGLY_MX)],
  ['is low at a backup behind a gateway', `email micro low, ${guard}`, mx(10, 'mxa.guard.test', 50, MICRO_MX)],
  ['is not one behind an unknown exchange', '', mx(10, 'mail.example.com', 50, MICRO_MX)],
  ['at a vanity exchange is known by its network', 'email vpshost medium', ownMx, atVps],
  ['behind a gateway is not known by the network', guard, guardMx, atVps],
  ['is shown beside a residue', 'email googly high', { mx: ['0 ms1.msv1.invalid', '1 aspmx.l.googly.test'] }],
]);
rows(showsMailbox, [
  ['is hidden by the gateway before it', 'blocked', guard, guardMx],
  ['is absent under a null MX', 'absent', 'email_sending micro high', { mx: ['0 '] }, autodiscover, spf(MICRO)],
  ['is absent where there is no MX at all', 'absent', '', { mx: 'empty' }],
  ['is absent with a verification residue alone', 'absent', '', { mx: ['0 ms12345678.msv1.invalid'] }],
  ['is not hidden by a reader of reports', 'absent', dmarcer, ownMx, reportsTo('rua.dmarcer.test'), elsewhere],
  ['is unmeasured when the MX look-up failed', 'unmeasured', '', { mx: 'timeout' }, spf(MICRO)],
]);
it('the mailbox is corroborated by its own SPF include, as a gateway is, which then is no service of its own', () => {
  const scored = (...parts: EvidenceParts[]) => {
    const { services } = profileOf(merged(parts));
    return [linesOf(services).join(), services[0]?.score];
  };
  assert.deepEqual(scored(googlyMx, spf(GOOGLY)), ['email googly high', 0.97]);
  assert.deepEqual(scored(guardMx, spf('spf.guard.test')), [guard, 0.98]);
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

rows(shows, [
  ['is not shown by its include', 'email googly high, email_sending guard high', googlyMx, spf('spf.guard.test')],
  ['is low as a backup', 'email_security guard low', { mx: ['10 mail.example.com', '90 backup.guard.test'] }],
]);
it('a gateway does not become a sender while its exchange or its reports cannot be looked up', () => {
  for (const parts of [{ mx: 'timeout' }, { dmarc: 'timeout' }] as const) {
    const { services, roles } = profileOf({ ...parts, ...spf('spf.guard.test') });
    assert.deepEqual([services, roles.sender], [[], 'unmeasured']);
  }
});

rows(shows, [
  ['a vendor that hosts the SPF record', dmarcer, spf('%{i}._ip.%{h}._spf.dmarcer.test')],
  ['a vendor that takes the reports', dmarcer, reportsTo('rua.dmarcer.test')],
  ['a vendor that _dmarc is delegated to by CNAME', dmarcer, { dmarc: delegated }],
  ['a sender by include', sendy, spf('sendy.test')],
  ['a sender by DKIM', sendy, { named: { 's1._domainkey': aliasTo('s1.dkim.sendy.test') } }],
  ['worth half in a policy that is void', 'email_sending sendy low', { txt: [policy('sendy.test'), 'v=spf1 -all'] }],
  ['worth half in one that asks for too much', 'email_sending sendy low', spf('sendy.test', ...eleven)],
  ['none of an unknown policy that includes none', '', spf('_spf.reseller.test'), { spf: reseller }],
  ['less sure in an unknown policy', 'email_sending sendy medium', spf('_spf.reseller.test'), { spf: deeper }],
  ['none that a known provider’s own policy includes', 'email googly high', googlyMx, spf(GOOGLY), ownPolicy],
  ['none where policies include each other', '', spf('a.test'), { spf: circle }],
  ['none by a DKIM alias whose target does not exist', '', danglingDkim],
  ['a token as a past verification', 'verified_service socially medium', { txt: ['Socially-Verification=abc'] }],
  ['no token in the middle of a text', '', { txt: ['x socially-verification=abc'] }],
]);
it('record vendors and senders are supported by a dangling DKIM alias where something else shows the sender', () => {
  const { services } = profileOf({ ...danglingDkim, ...spf('sendy.test') });
  assert.deepEqual([services.length, services[0]?.evidence.length], [1, 2]);
});
it('record vendors and senders are unmeasured while a policy behind the record cannot be had', () => {
  const senderWith = (found: 'timeout' | readonly string[]) =>
    profileOf({ named: noLabels, ...spf('_spf.reseller.test'), spf: { '_spf.reseller.test': found } }).roles.sender;
  assert.deepEqual([senderWith('timeout'), senderWith(['v=spf1 -all'])], ['unmeasured', 'absent']);
});

describe('a policy that is split', () => {
  const splitAt = (own: string) => ({
    spf: { [own]: ['v=spf1 include:_more.example.com ~all'], '_more.example.com': [policy('sendy.test')] },
  });
  const redirect = { txt: ['v=spf1 redirect=_spf.example.com'] };
  const other = '_spf.notexample.com';
  rows(shows, [
    ['into names of the domain’s own is one policy', sendy, spf('_spf.example.com'), splitAt('_spf.example.com')],
    ['by a redirect to such a name is one policy', sendy, redirect, splitAt('_spf.example.com')],
    ['into names of another owner is that owner’s', 'email_sending sendy medium', spf(other), splitAt(other)],
  ]);
});

const soaOf = (mname: string, rname: string) => [{ mname, rname, serial: 1 }];
const own = ['ns1.example.com'];
const awsdns = ['ns-7.awsdns-12.test'];

const at = (asn: number) => [{ use: 'ns' as const, asn, host: 'ns1.example.com' }];
const soa = soaOf('ns1.example.com', 'hostmaster.dnsco.test');
const former = soaOf('ns1.dnsco.test', 'hostmaster.dnsco.test');
const several = 'dns awsdns high, dns dnsco high';
rows(shows, [
  ['has several services where several vendors serve the zone', several, { ns: ['ns1.dnsco.test', ...awsdns] }],
  ['is the same in another order', several, { ns: [...awsdns, 'ns2.dnsco.test', 'ns1.dnsco.test'] }],
  ['behind vanity name servers is shown by the SOA', 'dns dnsco medium', { ns: own, soa }],
  ['is not shown by the SOA while NS cannot be had', '', { ns: 'timeout', soa }],
  ['is shown by the SOA’s server', 'dns dnsco medium', { ns: own, soa: soaOf('ns3.dnsco.test', 'x.example.com') }],
  ['is not the SOA’s former provider', 'dns awsdns high', { ns: awsdns, soa: former }],
  ['behind vanity name servers is shown by the network', 'dns dnsco medium', { ns: own, addresses: at(64502) }],
  ['is no network where the servers are known', 'dns awsdns high', { ns: awsdns, addresses: at(64502) }],
  ['is not the network of a host, where the customer runs the server', '', { ns: own, addresses: at(64499) }],
  ['matches labels, not letters', '', { ns: ['ns1.notdnsco.test', 'dnsco.test.evil.net'] }],
]);
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

const forSale = { page: { assets: ['https://frame.seller.test/park/x.js'] } };
const googly = ['10 aspmx.l.googly.test'];
const inUse: EvidenceParts = {
  ...{ ns: ['ns1.parker.test'], mx: googly, txt: ['socially-verification=1'], addresses: [{ asn: 64499 }] },
  ...{ http: { headers: { 'x-deploy-id': '1' } }, tls: { issuer: 'Certy' } },
};
const titled = (title: string): EvidenceParts => ({ http: { page: { title } } });
const offered = titled('example.com is for sale');
const redirects = { url: 'https://other.test/', redirects: ['https://seller.test/x'] };
const is = (state: string, parts: EvidenceParts, services?: string) => {
  const profile = profileOf(parts);
  assert.equal(profile.state, state);
  if (services) assert.deepEqual(linesOf(profile.services), [services]);
};
rows(is, [
  ['is parked by its name servers, and has no services but dns', 'parked', inUse, 'dns parker high'],
  ['is by its exchange', 'parked', { ns: ['ns1.dnsco.test'], mx: ['10 mx.parker.test'] }, 'dns dnsco high'],
  ['is by the page it shows', 'parked', { http: forSale }],
  ['is not where a known provider receives its mail', 'active', { http: forSale, mx: googly }, 'email googly high'],
  ['is by where it redirects', 'parked', { http: { url: 'https://www.seller.test/buy/example.com' } }],
  ['is by a redirect not followed', 'parked', { http: { url: 'https://www.seller.test/buy', statusCode: 302 } }],
  ['is by a redirect on the path', 'parked', { http: redirects }],
  ['is not with a title that offers it and a known mailbox', 'active', { ...offered, mx: googly }],
]);
it('a domain is parked by a title that offers the name, or may, and by no other title', () => {
  for (const title of ['example.com is for sale', 'Example.com - Domain for sale!', 'example.com may be for sale'])
    is('parked', titled(title));
  const unrelated = ['Houses for sale', 'The boat is for sale', 'Domain for sale? How to sell your domain name', ''];
  for (const title of unrelated) is('active', titled(title));
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
