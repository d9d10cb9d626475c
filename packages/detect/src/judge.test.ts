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
  it('is parked by a title that offers the name, or may, and of no other title', () => {
    for (const title of ['example.com is for sale', 'Example.com - Domain for sale!', 'example.com may be for sale'])
      is('parked', titled(title));
    const others = ['Houses for sale', 'The boat is for sale', 'Domain for sale? How to sell your domain name', ''];
    for (const title of others) is('active', titled(title));
  });
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
    shows('', { named: { 'selector1._domainkey': everything }, wildcardTxt: everything });
    shows('', { named: { support }, wildcardA: support });
  });
  it('does not hide an answer that differs from it', () => {
    const dmarc = ['v=DMARC1; p=none; rua=mailto:y@rua.dmarcer.test'];
    shows('email_security dmarcer high', { dmarc, wildcardTxt: wildcard });
    shows('verified_service helpdesk high', { named: { support }, wildcardA: ['192.0.2.1'] });
  });
  it('compares records as a set', () => {
    const profile = profileOf({ dmarc: ['b', ...wildcard], wildcardTxt: [...wildcard, 'b'] });
    assert.deepEqual([profile.services, profile.sources.dmarc], [[], 'absent']);
  });
});
