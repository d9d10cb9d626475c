// Names: several vendors, vanity servers, parked domains, wildcards.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from './detect.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { linesOf, testRulebook } from './test/rulebook-of.ts';

const profileOf = (parts: EvidenceParts) => detect(evidenceOf(parts), testRulebook);
const servicesOf = (parts: EvidenceParts) => linesOf(profileOf(parts).services);

describe('dns', () => {
  it('has several services where several vendors serve the zone', () => {
    assert.deepEqual(servicesOf({ ns: ['ns1.dnsco.test', 'ns-7.awsdns-12.test'] }), [
      'dns awsdns high',
      'dns dnsco high',
    ]);
  });

  it('is the same whatever the order of the records', () => {
    const ns = ['ns1.dnsco.test', 'ns-7.awsdns-12.test', 'ns2.dnsco.test'];
    assert.deepEqual(servicesOf({ ns }), servicesOf({ ns: ns.toReversed() }));
  });

  it('behind vanity name servers is shown by the SOA', () => {
    const soa = [{ mname: 'ns1.example.com', rname: 'hostmaster.dnsco.test', serial: 1 }];
    assert.deepEqual(servicesOf({ ns: ['ns1.example.com'], soa }), ['dns dnsco medium']);
    assert.deepEqual(servicesOf({ ns: 'timeout', soa }), []);
  });

  it('behind vanity name servers is shown by an SOA that names one of the provider’s own', () => {
    const soa = [{ mname: 'ns3.dnsco.test', rname: 'hostmaster.example.com', serial: 1 }];
    assert.deepEqual(servicesOf({ ns: ['ns1.example.com'], soa }), ['dns dnsco medium']);
  });

  it('behind vanity name servers is shown by the network of their addresses', () => {
    const at = (asn: number) => [{ use: 'ns' as const, asn, host: 'ns1.example.com' }];
    assert.deepEqual(servicesOf({ ns: ['ns1.example.com'], addresses: at(64502) }), ['dns dnsco medium']);
    assert.deepEqual(servicesOf({ ns: ['ns-7.awsdns-12.test'], addresses: at(64502) }), ['dns awsdns high']);
    // A name server on a host's network is the customer's own.
    assert.deepEqual(servicesOf({ ns: ['ns1.example.com'], addresses: at(64499) }), []);
  });

  it('behind vanity name servers is not absent while their addresses are unknown', () => {
    const ns = ['ns1.example.com'];
    const dnsOf = (addresses: EvidenceParts['addresses']) =>
      profileOf({ ns, addresses: [{ asn: 64511 }, ...(addresses ?? [])] }).roles.dns;
    assert.equal(dnsOf([{ use: 'ns', asn: null, address: '', status: 'timeout' }]), 'unmeasured');
    assert.equal(dnsOf([{ use: 'ns', asn: 64511 }]), 'absent');
  });

  it('is not a parking provider that only the SOA still names', () => {
    const soa = [{ mname: 'ns1.parker.test', rname: 'x.example.com', serial: 1 }];
    const profile = profileOf({ ns: ['ns1.example.com'], soa });
    assert.deepEqual([profile.state, profile.services.length], ['active', 0]);
  });

  it('is not the SOA’s former provider where the NS names another', () => {
    const soa = [{ mname: 'ns1.dnsco.test', rname: 'hostmaster.dnsco.test', serial: 1 }];
    assert.deepEqual(servicesOf({ ns: ['ns-7.awsdns-12.test'], soa }), ['dns awsdns high']);
  });

  it('matches labels, not letters', () => {
    assert.deepEqual(servicesOf({ ns: ['ns1.notdnsco.test', 'dnsco.test.evil.net'] }), []);
  });
});

describe('a parked domain', () => {
  it('is known by its name servers and has no services but dns', () => {
    const profile = profileOf({
      ns: ['ns1.parker.test'],
      mx: ['10 aspmx.l.googly.test'],
      txt: ['socially-verification=1'],
      addresses: [{ asn: 64499 }],
      http: { headers: { 'x-deploy-id': '1' } },
      tls: { issuer: 'Certy' },
    });
    assert.equal(profile.state, 'parked');
    assert.deepEqual(linesOf(profile.services), ['dns parker high']);
  });

  it('is known by its exchange', () => {
    const profile = profileOf({ ns: ['ns1.dnsco.test'], mx: ['10 mx.parker.test'] });
    assert.equal(profile.state, 'parked');
    assert.deepEqual(linesOf(profile.services), ['dns dnsco high']);
  });

  it('is known by the page it shows, unless a known provider receives its mail', () => {
    const http = { page: { assets: ['https://frame.seller.test/park/x.js'] } };
    assert.equal(profileOf({ http }).state, 'parked');
    const inUse = profileOf({ http, mx: ['10 aspmx.l.googly.test'] });
    assert.equal(inUse.state, 'active');
    assert.deepEqual(linesOf(inUse.services), ['email googly high']);
  });

  it('is known by where it redirects', () => {
    assert.equal(profileOf({ http: { url: 'https://www.seller.test/buy/example.com' } }).state, 'parked');
    assert.equal(profileOf({ http: { url: 'https://www.seller.test/buy', statusCode: 302 } }).state, 'parked');
    assert.equal(
      profileOf({ http: { url: 'https://other.test/', redirects: ['https://seller.test/x'] } }).state,
      'parked',
    );
  });
});

describe('a wildcard zone', () => {
  const wildcard = ['v=DMARC1; p=reject; rua=mailto:x@rua.dmarcer.test'];

  it('answers _dmarc as it answers anything, which is no evidence', () => {
    const profile = profileOf({ dmarc: wildcard, wildcardTxt: wildcard });
    assert.deepEqual(profile.services, []);
    assert.equal(profile.sources.dmarc, 'absent');
    // A receiver that asks is told the policy all the same.
    assert.equal(profile.security.dmarc.policy, 'reject');
  });

  it('answers named labels with its alias, which is no evidence either', () => {
    const everything = aliasTo('x.onmicro.test');
    assert.deepEqual(servicesOf({ named: { 'selector1._domainkey': everything }, wildcardTxt: everything }), []);
    assert.deepEqual(
      servicesOf({ named: { support: aliasTo('helpdesk.test') }, wildcardA: aliasTo('helpdesk.test') }),
      [],
    );
  });

  it('does not hide an answer that differs from it', () => {
    const dmarc = ['v=DMARC1; p=none; rua=mailto:y@rua.dmarcer.test'];
    assert.deepEqual(servicesOf({ dmarc, wildcardTxt: wildcard }), ['email_security dmarcer high']);
    assert.deepEqual(servicesOf({ named: { support: aliasTo('helpdesk.test') }, wildcardA: ['192.0.2.1'] }), [
      'verified_service helpdesk high',
    ]);
  });

  it('compares records as a set', () => {
    const profile = profileOf({ dmarc: ['b', ...wildcard], wildcardTxt: [...wildcard, 'b'] });
    assert.deepEqual([profile.services, profile.sources.dmarc], [[], 'absent']);
  });
});
