// From a published file through detection to the services of a domain.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { entries, rangeMeanings } from '@strata/catalog';
import { loadAddressRanges } from './address-ranges.ts';
import { detect } from './detect.ts';
import { loadCatalog } from './load-catalog.ts';
import { compileRulebook } from './rulebook.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from './test/evidence-of.ts';
import { linesOf } from './test/rulebook-of.ts';

const half = { ip_prefix: '192.0.2.128/25', service: 'CLOUDFRONT' };
const v6 = { ipv6_prefix: '2001:db8::/32', service: 'CLOUDFRONT' };
const catalog = loadCatalog(entries);
const files = {
  'ip-ranges': { prefixes: [{ ip_prefix: '192.0.2.0/24', service: 'EC2' }, half], ipv6_prefixes: [v6] },
  meta: { hooks: [], pages: ['198.51.100.153/32'] },
  'public-ip-list': { addresses: ['198.51.100.0/24'], ipv6_addresses: [] },
};
const ranges = loadAddressRanges(
  Object.entries(files).map(([name, json]) => ({ name: `${name}.json`, text: JSON.stringify(json) })),
  { meanings: rangeMeanings, catalog },
);
const rulebook = compileRulebook(catalog, { ranges });
const profileOf = (parts: EvidenceParts) => detect(evidenceOf(parts), rulebook);
const servicesOf = (parts: EvidenceParts) => linesOf(profileOf(parts).services);
const AMAZON = 16509;
const FASTLY = 54113;

describe('a published range', () => {
  it('shows the product at an address, says in which range, and is one proof with the network of the address', () => {
    const { services } = profileOf({ addresses: [{ address: '192.0.2.7' }] });
    assert.deepEqual([linesOf(services), services[0]?.score], [['hosting amazon-web-services high'], 0.9]);
    const rule = 'amazon-web-services/asn/range:192.0.2.0/24';
    assert.deepEqual(services[0]?.evidence, [{ source: 'asn', value: '192.0.2.7 in 192.0.2.0/24', rule }]);
    const [both] = profileOf({ addresses: [{ address: '192.0.2.7', asn: AMAZON }] }).services;
    assert.deepEqual([both?.score, both?.evidence.length], [0.9, 2]);
  });
  it('wins over the network of the same address: CloudFront on Amazon’s, GitHub Pages on Fastly’s', () => {
    const at = (address: string, asn: number) => servicesOf({ addresses: [{ address, asn }] });
    assert.deepEqual(at('192.0.2.200', AMAZON), ['cdn amazon-cloudfront high']);
    assert.deepEqual(at('2001:db8::7', AMAZON), ['cdn amazon-cloudfront high']);
    assert.deepEqual(at('198.51.100.153', FASTLY), ['hosting github-pages high']);
  });
  it('leaves the network of another address alone', () => {
    const other = { address: '203.0.113.9', asn: FASTLY, use: 'www' } as const;
    const services = servicesOf({ addresses: [{ address: '198.51.100.153', asn: FASTLY }, other] });
    assert.ok(services.includes('cdn fastly medium'));
  });
  it('of a host falls away behind an edge, as its network does, whatever network another address is in', () => {
    const www = aliasTo('d111111abcdef8.cloudfront.net');
    const other = { address: '203.0.113.9', asn: AMAZON, use: 'www' } as const;
    for (const parts of [
      { www, addresses: [{ address: '192.0.2.7', asn: AMAZON }] },
      { addresses: [{ address: '192.0.2.200', asn: AMAZON }, other] },
    ]) {
      const { services, roles } = profileOf(parts);
      assert.deepEqual([linesOf(services), roles.origin], [['cdn amazon-cloudfront high'], 'blocked']);
    }
  });
  it('of a host gives way to whose name or header the site has', () => {
    const www = aliasTo('cname.vercel-dns.com');
    assert.deepEqual(servicesOf({ www, addresses: [{ address: '192.0.2.7', asn: AMAZON }] }), ['hosting vercel high']);
  });
  it('says nothing of exchanges and name servers', () => {
    for (const use of ['mail', 'ns'] as const)
      assert.deepEqual(servicesOf({ addresses: [{ address: '192.0.2.7', use }] }), [], use);
  });
  it('is part of the rulebook’s version', () => {
    const plain = compileRulebook(catalog);
    assert.notEqual(rulebook.version, plain.version);
    assert.equal(compileRulebook(catalog, { ranges }).version, rulebook.version);
    assert.equal(compileRulebook(catalog, { ranges: undefined }).version, plain.version);
    assert.deepEqual(detect(evidenceOf({ addresses: [{ address: '192.0.2.200' }] }), plain).services, []);
  });
});
