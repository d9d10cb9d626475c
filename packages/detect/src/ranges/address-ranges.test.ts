// Each published format by a small document of its shape, what must be refused, how large and quick the tables are, and
// from a published file through detection to the services of a domain.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { entries, rangeMeanings } from '@strata/catalog';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { detect } from '../detect.ts';
import { loadCatalog } from '../rulebook/load-catalog.ts';
import { compileRulebook } from '../rulebook/rulebook.ts';
import { aliasTo, type EvidenceParts, evidenceOf, linesOf, provider } from '../test/index.ts';
import { AddressRangeError, type AddressRanges, loadAddressRanges, type RangeFile } from './address-ranges.ts';

const catalog = loadCatalog([
  provider('host', { category: 'hosting', asn: [64500] }),
  provider('edge', { category: 'cdn', asn: [64501] }, { category: 'hosting', cname: ['pages.edge.test'] }),
  provider('both', { category: 'cdn', cname: ['both.test'] }, { category: 'hosting', cname: ['app.both.test'] }),
  provider('mailer', { category: 'email', mx: ['mailer.test'] }),
]);
const meanings = [
  ...['aws FRONT edge', 'aws COMPUTE host', 'azure Front.Door edge', 'google Cloud host', 'google * edge'],
  ...['oracle OCI host', 'fastly * edge', 'github pages host', 'list ips-v4 edge'],
].map((meaning) => {
  const [format, tag, provider] = meaning.split(' ');
  return { format, tag, provider, category: provider === 'edge' ? 'cdn' : 'hosting' };
});

const load = (...files: RangeFile[]): AddressRanges => loadAddressRanges(files, { meanings, catalog });
const loadText = (text: string, name = 'ranges.csv') => load({ name, text });
const loadJson = (json: unknown) => loadText(JSON.stringify(json), 'ranges.json');
const finds = (ranges: AddressRanges, expected: Record<string, string>) =>
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((each) => [each, found(ranges, each)])), expected);
const found = (ranges: AddressRanges, address: string) => Object.values(ranges.find(address) ?? {}).join(' ');
const problemsOf = (...files: RangeFile[]): readonly string[] => {
  try {
    load(...files);
  } catch (error) {
    assert.ok(error instanceof AddressRangeError, String(error));
    return error.problems;
  }
  return [];
};

it('the published formats of AWS: a service each, of one prefix in two services the first of the table', () => {
  const entry = (ip_prefix: string, service: string) => ({ ip_prefix, region: 'GLOBAL', service });
  const [other, compute] = [entry('192.0.2.0/24', 'AMAZON'), entry('198.51.100.0/24', 'COMPUTE')];
  const both = ['COMPUTE', 'FRONT'].map((service) => entry('203.0.113.0/24', service));
  const ipv6_prefixes = [{ ipv6_prefix: '2001:db8::/40', region: 'eu-west-1', service: 'COMPUTE' }];
  const ranges = loadJson({ syncToken: '1700000000', prefixes: [other, compute, ...both], ipv6_prefixes });
  finds(ranges, {
    ...{ '192.0.2.1': '', '198.51.100.9': 'host hosting 198.51.100.0/24' },
    ...{ '203.0.113.7': 'edge cdn 203.0.113.0/24', '2001:db8:1::5': 'host hosting 2001:db8::/40' },
  });
  assert.deepEqual(ranges.files, [{ name: 'ranges.json', format: 'aws', ranges: 4, ignored: 1 }]);
});
it('the published formats of Azure: service tags', () => {
  const tagged = (id: string, ...addressPrefixes: string[]) => ({ name: id, id, properties: { addressPrefixes } });
  const values = [tagged('Front.Door', '192.0.2.0/25', '2001:db8::/32'), tagged('Other', '198.51.100.0/24')];
  finds(loadJson({ changeNumber: 1, cloud: 'Public', values }), {
    ...{ '192.0.2.127': 'edge cdn 192.0.2.0/25', '192.0.2.128': '', '198.51.100.1': '' },
    '2001:db8::1': 'edge cdn 2001:db8::/32',
  });
});
it('the published formats of Google: its cloud within all of it', () => {
  const goog = '{ "prefixes": [{ "ipv4Prefix": "10.0.0.0/8" }] }';
  const prefixes = [{ ipv4Prefix: '10.1.0.0/16' }, { ipv6Prefix: '2001:db8::/44' }];
  const scoped = prefixes.map((prefix) => ({ ...prefix, service: 'Cloud', scope: 'europe-west1' }));
  const cloud = { name: 'cloud.json', text: JSON.stringify({ syncToken: '1', prefixes: scoped }) };
  finds(load(cloud, { name: 'goog.json', text: goog }), {
    ...{ '10.1.2.3': 'host hosting 10.1.0.0/16', '10.2.2.3': 'edge cdn 10.0.0.0/8' },
    '2001:db8::8': 'host hosting 2001:db8::/44',
  });
});
it('the published formats of Oracle, Fastly and GitHub', () => {
  const tagged = (cidr: string, ...tags: string[]) => ({ cidr, tags });
  const cidrs = [tagged('192.0.2.0/24', 'OSN', 'OCI'), tagged('198.51.100.0/24', 'OSN')];
  const oracle = loadJson({ last_updated_timestamp: 'x', regions: [{ region: 'uk-london-1', cidrs }] });
  finds(oracle, { '192.0.2.1': 'host hosting 192.0.2.0/24', '198.51.100.1': '' });
  assert.equal(loadText('\uFEFF{"addresses": ["192.0.2.0/24"], "ipv6_addresses": []}').size, 1);
  const fastly = loadJson({ addresses: ['192.0.2.0/24'], ipv6_addresses: ['2001:db8::/32'] });
  finds(fastly, { '192.0.2.1': 'edge cdn 192.0.2.0/24', '2001:db8::1': 'edge cdn 2001:db8::/32' });
  const hooks = { hooks: ['192.0.2.0/24'], domains: { website: ['*.github.test'] } };
  const github = loadJson({ ...hooks, web: ['203.0.113.0/24'], pages: ['198.51.100.153/32'] });
  finds(github, { '192.0.2.1': '', '198.51.100.153': 'host hosting 198.51.100.153/32' });
});
it('the published formats of one prefix a line, and a geofeed: the name of the file says whose', () => {
  const list = { '192.0.2.1': 'edge cdn 192.0.2.0/24', '198.51.100.7': 'edge cdn 198.51.100.7/32' };
  finds(loadText('192.0.2.0/24\r\n198.51.100.7\n', 'ips-v4'), list);
  const geofeed = '# prefix,country,region,city,postal\n192.0.2.0/24,NL,NL-NH,Amsterdam,\n2001:db8::/32,US,,,\n';
  const feed = { '192.0.2.1': 'host hosting 192.0.2.0/24', '2001:db8::1': 'host hosting 2001:db8::/32' };
  finds(loadText(geofeed, 'host.csv'), feed);
  finds(loadText('192.0.2.0/24', 'edge.txt'), { '192.0.2.1': 'edge cdn 192.0.2.0/24' });
});
it('the published formats of our own: provider, prefix and where it has several the category; it wins over a published one', () => {
  const lines = ['# ours', '', 'host, 192.0.2.0/24', 'edge,198.51.100.0/24,hosting', 'both,203.0.113.0/24,cdn'];
  const own = { name: 'own.csv', text: lines.join('\n') };
  const ranges = load({ name: 'ips-v4', text: '192.0.2.0/24\n192.0.2.128/25' }, own);
  finds(ranges, {
    ...{ '192.0.2.1': 'host hosting 192.0.2.0/24', '192.0.2.129': 'edge cdn 192.0.2.128/25' },
    ...{ '198.51.100.1': 'edge hosting 198.51.100.0/24', '203.0.113.1': 'both cdn 203.0.113.0/24' },
  });
  const products = ranges.products.map(({ provider, category }) => `${provider} ${category}`);
  assert.deepEqual(products, ['both cdn', 'edge cdn', 'edge hosting', 'host hosting']);
});
it('a digest of ranges is another for another prefix, provider or category, but not for another order', () => {
  const digestOf = (...lines: string[]) => loadText(lines.join('\n')).digest;
  const lines = ['host,192.0.2.0/24', 'edge,198.51.100.0/24', 'host,2001:db8::/32'];
  assert.match(digestOf(...lines), /^[0-9a-f]{16}$/);
  assert.equal(new Set([lines, lines.toReversed(), [...lines, ...lines]].map((each) => digestOf(...each))).size, 1);
  const texts = ['host,192.0.2.0/24', 'host,192.0.2.0/25', 'edge,192.0.2.0/24', 'edge,192.0.2.0/24,hosting'];
  assert.equal(new Set(texts.map((text) => digestOf(text))).size, texts.length);
});
it('what is wrong with the files is reported all at once, with file and position', () => {
  const problems = problemsOf(...casesOf<{ name: string; text: string }[]>('detect', 'files of ranges with problems'));
  assert.deepEqual(problems, casesOf<string[]>('detect', 'problems of ranges'));
});
it('what is wrong with the files is reported for the first hundred, the rest counted', () => {
  const text = Array.from({ length: 1000 }, (_, i) => `host,10.0.0.${i % 255}/99`).join('\n');
  assert.equal(problemsOf({ name: 'own.csv', text }).length, 100);
  assert.throws(() => loadText(text), /the address ranges have 1000 problem\(s\):[\s\S]*and 900 more$/);
});
it('what is wrong with the files includes more ranges than 500,000, and no more than those are kept', () => {
  const text = Array.from({ length: 500_001 }, (_, i) => `host,10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`);
  const problems = problemsOf({ name: 'own.csv', text: text.join('\n') });
  assert.deepEqual(problems, ['own.csv line 500001: more than 500000 ranges']);
});
it('what is wrong with the files includes a table with an unknown provider, or one tag twice', () => {
  const [first] = meanings;
  for (const table of [[{ ...first, provider: 'unknown' }], [first, first], [{ ...first, category: 'email' }], [{}]])
    assert.throws(() => loadAddressRanges([], { meanings: table, catalog }));
});
it('the tables take no more than 30 bytes a range, and find each of 40,000', () => {
  const lines = Array.from({ length: 40_000 }, (_, i) => {
    const ipv4 = `${11 + (i >> 15)}.${(i >> 7) & 255}.${(i & 127) * 2}.0/24`;
    return `${i % 2 ? 'host' : 'edge'},${i < 8_000 ? `2001:${i.toString(16)}::/33` : ipv4}`;
  });
  const ranges = loadText(lines.join('\n'));
  assert.equal(ranges.size, 40_000);
  assert.ok(ranges.sizeBytes <= 30 * ranges.size, `${ranges.sizeBytes} bytes`);
  for (const line of lines) assert.ok(ranges.find(line.slice(5).replace(/\/\d+$/, '')), line);
});
it('the tables do not match text that is not an address', () => {
  const invalid = { '': '', 'example.com': '', '10.0.0': '', '10.0.0.1/32': '', '::ffff:10.0.0.1': '' };
  finds(loadText('host,10.0.0.0/8'), { '10.0.0.1': 'host hosting 10.0.0.0/8', ...invalid });
});

const half = { ip_prefix: '192.0.2.128/25', service: 'CLOUDFRONT' };
const v6 = { ipv6_prefix: '2001:db8::/32', service: 'CLOUDFRONT' };
const published = loadCatalog(entries);
const files = {
  'ip-ranges': { prefixes: [{ ip_prefix: '192.0.2.0/24', service: 'EC2' }, half], ipv6_prefixes: [v6] },
  meta: { hooks: [], pages: ['198.51.100.153/32'] },
  'public-ip-list': { addresses: ['198.51.100.0/24'], ipv6_addresses: [] },
};
const ranges = loadAddressRanges(
  Object.entries(files).map(([name, json]) => ({ name: `${name}.json`, text: JSON.stringify(json) })),
  { meanings: rangeMeanings, catalog: published },
);
const rulebook = compileRulebook(published, { ranges });
const profileOf = (parts: EvidenceParts) => detect(evidenceOf(parts), rulebook);
const servicesOf = (parts: EvidenceParts) => linesOf(profileOf(parts).services);
const AMAZON = 16509;
const FASTLY = 54113;

it('a published range shows the product at an address, says in which range, and is one proof with the network of the address', () => {
  const { services } = profileOf({ addresses: [{ address: '192.0.2.7' }] });
  assert.deepEqual([linesOf(services), services[0]?.score], [['hosting amazon-web-services high'], 0.98]);
  const rule = 'amazon-web-services/asn/range:192.0.2.0/24';
  assert.deepEqual(services[0]?.evidence, [{ source: 'asn', value: '192.0.2.7 in 192.0.2.0/24', rule }]);
  const [both] = profileOf({ addresses: [{ address: '192.0.2.7', asn: AMAZON }] }).services;
  assert.deepEqual([both?.score, both?.evidence.length], [0.98, 2]);
});
it('a published range wins over the network of the same address: CloudFront on Amazon’s, GitHub Pages on Fastly’s', () => {
  const at = (address: string, asn: number) => servicesOf({ addresses: [{ address, asn }] });
  assert.deepEqual(at('192.0.2.200', AMAZON), ['cdn amazon-cloudfront high']);
  assert.deepEqual(at('2001:db8::7', AMAZON), ['cdn amazon-cloudfront high']);
  assert.deepEqual(at('198.51.100.153', FASTLY), ['hosting github-pages high']);
});
it('a published range leaves the network of another address alone', () => {
  const other = { address: '203.0.113.9', asn: FASTLY, use: 'www' } as const;
  const services = servicesOf({ addresses: [{ address: '198.51.100.153', asn: FASTLY }, other] });
  assert.ok(services.includes('cdn fastly high'));
});
it('a published range of a host falls away behind an edge, as its network does, whatever network another address is in', () => {
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
it('a published range of a host is overruled by the name or header of another host', () => {
  const www = aliasTo('cname.vercel-dns.com');
  assert.deepEqual(servicesOf({ www, addresses: [{ address: '192.0.2.7', asn: AMAZON }] }), ['hosting vercel high']);
});
it('a published range says nothing of exchanges and name servers', () => {
  for (const use of ['mail', 'ns'] as const)
    assert.deepEqual(servicesOf({ addresses: [{ address: '192.0.2.7', use }] }), [], use);
});
it('a published range is part of the rulebook’s version', () => {
  const plain = compileRulebook(published);
  assert.notEqual(rulebook.version, plain.version);
  assert.equal(compileRulebook(published, { ranges }).version, rulebook.version);
  assert.equal(compileRulebook(published, { ranges: undefined }).version, plain.version);
  assert.deepEqual(detect(evidenceOf({ addresses: [{ address: '192.0.2.200' }] }), plain).services, []);
});
