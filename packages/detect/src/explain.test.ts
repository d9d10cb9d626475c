import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fc, holds } from '../../../tests/support/property.ts';
import { casesOf } from '../../../tests/support/vectors.ts';
import { evidenceFromRecord, explainRecord, RecordError } from './explain.ts';
import { testRulebook } from './test/rulebook-of.ts';

const explain = (record: unknown) => explainRecord(record, testRulebook);
const linesOf = (record: unknown) =>
  explain(record).services.map(({ category, provider_id, confidence }) => `${category} ${provider_id} ${confidence}`);

it('explainRecord reads a full record of every part', () => {
  const record = casesOf('detect', 'full record');
  assert.deepEqual(linesOf(record), [
    ...['dns dnsco high', 'email micro medium', 'email_security dmarcer high', 'email_security guard high'],
    ...['email_sending sendy medium', 'hosting deploy high', 'cdn edgy high', 'security waffle medium'],
    ...['verified_service socially high', 'certificate_authority certy high', 'web_platform blogger high'],
  ]);
});
it('explainRecord answers with display name, id and the reason', () => {
  const dnsco = { category: 'dns', role: 'dns', provider: 'DNSCO', provider_id: 'dnsco', confidence: 'high' };
  const evidence = [{ source: 'ns', value: 'ns1.dnsco.test', rule: 'dnsco/ns/dnsco.test' }];
  const answer = { domain: 'example.com', services: [{ ...dnsco, evidence }] };
  assert.deepEqual(explain({ domain: 'example.com', ns: ['ns1.dnsco.test'] }), answer);
});
it('explainRecord returns the version only if it is shown', () => {
  const serviceOf = (server: string) => explain({ domain: 'example.com', headers: { server } }).services[0] ?? {};
  assert.partialDeepStrictEqual(serviceOf('Blogger/6.4'), { provider_id: 'blogger', version: '6.4' });
  assert.ok(!('version' in serviceOf('Blogger/')));
});
it('explainRecord needs nothing but the domain, and ignores what it does not know', () => {
  const unknown = { whois: { x: 1 }, a: [{ address: '192.0.2.1', ttl: 5 }] };
  assert.deepEqual(linesOf({ domain: 'example.com', ...unknown }), []);
});
it('explainRecord knows a network by its number, on any of the addresses', () => {
  const a = [{ address: '192.0.2.1' }, { address: '192.0.2.2', asn: 64499 }];
  assert.deepEqual(linesOf({ domain: 'example.com', a }), ['hosting cloudy high']);
});
it('explainRecord follows chains of aliases, and ends one where it comes back to itself', () => {
  const [www, shop, deploy] = ['www.example.com', 'shop.example.net', 'x.deploy.test'] as const;
  const loop = { [www]: shop, [shop]: deploy, [deploy]: www };
  assert.deepEqual(linesOf({ domain: 'example.com', cname: loop }), ['hosting deploy high']);
  const cname = { [www]: 'a.test', 'a.test': 'b.test', 'b.test': 'a.test' };
  assert.deepEqual(evidenceFromRecord({ domain: 'example.com', cname }).dns.www.aliases, ['a.test', 'b.test']);
});
it('explainRecord reads a bare CAA issuer as it reads the zone-file form', () => {
  for (const caa of ['certy.test', '0 issue "certy.test"', '128 issuewild certy.test; a=b'])
    assert.deepEqual(linesOf({ domain: 'example.com', caa: [caa] }), ['certificate_authority certy low'], caa);
});
it('explainRecord reads additional parts as a probe would collect them', () => {
  const { dns, addresses, policies, files } = evidenceFromRecord(
    casesOf<object>('detect', 'record with additional parts'),
  );
  const soa = { mname: 'ns1.example.com', rname: 'hostmaster.example.com', serial: 2026112101 };
  const ds = { keyTag: 60485, algorithm: 13, digestType: 2, digest: 'd4b7d520' };
  assert.deepEqual([dns.soa.records, dns.ds.records], [[soa], [ds]]);
  assert.deepEqual([dns.aaaa.records, dns.www.records], [['2001:db8::1'], ['192.0.2.2']]);
  const at = addresses.map(({ use, host, address, asn, status }) => `${use} ${host} ${address} ${asn} ${status}`);
  assert.deepEqual(at, [
    ...['web example.com 2001:db8::1 64496 found', 'www www.example.com 192.0.2.2 null skipped'],
    ...['mail mx.example.com 192.0.2.25 null skipped', 'ns ns1.example.com 192.0.2.53 64502 found'],
  ]);
  const { spf, dmarcParents, reportConsents, validation } = policies ?? assert.fail('no policies');
  assert.deepEqual([spf['_spf.mail.test']?.records, spf['empty.test']?.status], [['v=spf1 -all'], 'empty']);
  assert.deepEqual([dmarcParents.com?.status, validation], ['empty', 'unknown']);
  assert.deepEqual(reportConsents['reports.test']?.records, ['v=DMARC1']);
  assert.deepEqual([files?.mtaSts.status, files?.mtaSts.text.length], ['found', 29]);
  assert.equal(files?.securityTxt.status, 'skipped');
  const long = evidenceFromRecord({ domain: 'example.com', security_txt: 'x'.repeat(20_000) });
  assert.equal(long.files?.securityTxt.text.length, 16_384);
});
it('explainRecord distinguishes a missing part from an empty one', () => {
  const { dns, http, tls, policies, files } = evidenceFromRecord({ domain: 'example.com', mx: [] });
  const statuses = [dns.mx.status, dns.ns.status, http.status, tls.status];
  assert.deepEqual([statuses.join(' '), policies, files], ['empty skipped skipped skipped', undefined, undefined]);
});

const isRefused = (record: unknown, field: string) =>
  it(`explainRecord refuses ${JSON.stringify(record).slice(0, 70)}, naming ${field}`, () =>
    assert.throws(
      () => explain(record),
      (error) => error instanceof RecordError && error.field === field && error.message.startsWith(`${field}: `),
    ));
for (const record of [null, 'example.com', []]) isRefused(record, 'record');
for (const domain of [undefined, 5, 'co.uk', '127.0.0.1']) isRefused({ domain }, 'domain');
const table: readonly Readonly<Record<string, unknown>>[] = [
  ...[{ ns: 'ns1' }, { txt: Array.from({ length: 5001 }, () => '') }, { cname: ['x'] }, { tls_issuer: null }],
  { headers: Object.fromEntries(Array.from({ length: 513 }, (_, i) => [`x-${i}`, ''])) },
  { soa: 'ns1.example.com' },
];
for (const given of table) isRefused({ domain: 'example.com', ...given }, Object.keys(given).join());
const below = casesOf<[field: string, given: object][]>('detect', 'records with a problem below a field');
below.push(['txt.0', { txt: ['x'.repeat(65_536)] }], ['html', { html: 'x'.repeat(16_777_217) }]);
for (const [field, given] of below) isRefused({ domain: 'example.com', ...given }, field);
it('explainRecord refuses nothing else: any JSON is read or refused', () =>
  holds(100, [fc.jsonValue(), fc.jsonValue()], (value, other) => {
    try {
      explain({ domain: 'example.com', headers: value, txt: other, soa: value, ds: other, spf_policies: value });
    } catch (error) {
      assert.ok(error instanceof RecordError);
    }
  }));
