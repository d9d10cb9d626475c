// Names: several vendors, vanity servers, parked domains, wildcards.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aliasTo, type EvidenceParts } from './test/evidence-of.ts';
import { rows } from './test/rows.ts';
import { linesOf, profileOf, servicesOf } from './test/rulebook-of.ts';

const soaOf = (mname: string, rname: string) => [{ mname, rname, serial: 1 }];
const own = ['ns1.example.com'];
const awsdns = ['ns-7.awsdns-12.test'];
const shows = (services: string, parts: EvidenceParts) => assert.equal(servicesOf(parts), services);

describe('dns', () => {
  const at = (asn: number) => [{ use: 'ns' as const, asn, host: 'ns1.example.com' }];
  it('has several services where several vendors serve the zone', () =>
    shows('dns awsdns high, dns dnsco high', { ns: ['ns1.dnsco.test', ...awsdns] }));
  it('is the same in another order', () =>
    shows('dns awsdns high, dns dnsco high', { ns: [...awsdns, 'ns2.dnsco.test', 'ns1.dnsco.test'] }));
  it('behind vanity name servers is shown by the SOA', () =>
    shows('dns dnsco medium', { ns: own, soa: soaOf('ns1.example.com', 'hostmaster.dnsco.test') }));
  it('is not shown by the SOA while NS cannot be had', () =>
    shows('', { ns: 'timeout', soa: soaOf('ns1.example.com', 'hostmaster.dnsco.test') }));
  it('is shown by an SOA that names a server of the provider', () =>
    shows('dns dnsco medium', { ns: own, soa: soaOf('ns3.dnsco.test', 'hostmaster.example.com') }));
  it('is not the SOA’s former provider', () =>
    shows('dns awsdns high', { ns: awsdns, soa: soaOf('ns1.dnsco.test', 'hostmaster.dnsco.test') }));
  it('behind vanity name servers is shown by the network', () =>
    shows('dns dnsco medium', { ns: own, addresses: at(64502) }));
  it('is not shown by the network where the name servers are known', () =>
    shows('dns awsdns high', { ns: awsdns, addresses: at(64502) }));
  it('is not the network of a host, where the customer runs the server', () =>
    shows('', { ns: own, addresses: at(64499) }));
  it('matches labels, not letters', () => shows('', { ns: ['ns1.notdnsco.test', 'dnsco.test.evil.net'] }));
  it('behind vanity name servers is not absent while their addresses are unknown', () => {
    const dnsOf = (address: NonNullable<EvidenceParts['addresses']>[number]) =>
      profileOf({ ns: own, addresses: [{ asn: 64511 }, address] }).roles.dns;
    assert.equal(dnsOf({ use: 'ns', asn: null, address: '', status: 'timeout' }), 'unmeasured');
    assert.equal(dnsOf({ use: 'ns', asn: 64511 }), 'absent');
  });
  it('is not a parking provider that only the SOA still names', () => {
    const profile = profileOf({ ns: own, soa: soaOf('ns1.parker.test', 'x.example.com') });
    assert.deepEqual([profile.state, profile.services.length], ['active', 0]);
  });
});

describe('a domain', () => {
  const forSale = { page: { assets: ['https://frame.seller.test/park/x.js'] } };
  const googly = ['10 aspmx.l.googly.test'];
  const inUse: EvidenceParts = {
    ns: ['ns1.parker.test'],
    mx: googly,
    txt: ['socially-verification=1'],
    addresses: [{ asn: 64499 }],
    http: { headers: { 'x-deploy-id': '1' } },
    tls: { issuer: 'Certy' },
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
    ['is by a title that offers the name', 'parked', offered],
    ['is by a title that offers the domain', 'parked', titled('Example.com - Domain for sale!')],
    ['is by a title that may offer the name', 'parked', titled('example.com may be for sale')],
    ['is not with such a title and a known mailbox', 'active', { ...offered, mx: googly }],
    ['is not with a title that offers houses', 'active', titled('Houses for sale')],
    ['is not with a title that offers a boat', 'active', titled('The boat is for sale')],
    ['is not with a title about selling', 'active', titled('Domain for sale? How to sell your domain name')],
    ['is not with an empty title', 'active', titled('')],
  ]);
});

describe('a wildcard zone', () => {
  const wildcard = ['v=DMARC1; p=reject; rua=mailto:x@rua.dmarcer.test'];
  const everything = aliasTo('x.onmicro.test');
  const support = aliasTo('helpdesk.test');

  it('answers _dmarc as it answers anything, which is no evidence', () => {
    const profile = profileOf({ dmarc: wildcard, wildcardTxt: wildcard });
    assert.deepEqual([profile.services, profile.sources.dmarc], [[], 'absent']);
    // A receiver that asks gets the policy all the same.
    assert.equal(profile.security.dmarc.policy, 'reject');
  });
  it('answers named labels with its alias, which is no evidence either', () => {
    assert.equal(servicesOf({ named: { 'selector1._domainkey': everything }, wildcardTxt: everything }), '');
    assert.equal(servicesOf({ named: { support }, wildcardA: support }), '');
  });
  it('does not hide an answer that differs from it', () => {
    const dmarc = ['v=DMARC1; p=none; rua=mailto:y@rua.dmarcer.test'];
    assert.equal(servicesOf({ dmarc, wildcardTxt: wildcard }), 'email_security dmarcer high');
    assert.equal(servicesOf({ named: { support }, wildcardA: ['192.0.2.1'] }), 'verified_service helpdesk high');
  });
  it('compares records as a set', () => {
    const profile = profileOf({ dmarc: ['b', ...wildcard], wildcardTxt: [...wildcard, 'b'] });
    assert.deepEqual([profile.services, profile.sources.dmarc], [[], 'absent']);
  });
});
