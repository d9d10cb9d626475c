// From evidence to a profile, on hostile evidence too; catalog/ has tests with the real catalog.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codePoint, fc, holds } from '../../../tests/support/property.ts';
import { casesOf } from '../../../tests/support/vectors.ts';
import { detect } from './detect.ts';
import { sentenceOf } from './judge/sentence.ts';
import { distributionIn, platformOf, versionAfter } from './match/version.ts';
import type { Role, ServiceEvidence } from './profile.ts';
import { aliasTo, evidenceOf, linesOf, profileOf, testRulebook } from './test/index.ts';

it('detect is a function of its arguments alone', () => {
  const http = { headers: { 'x-edgy-ray': '1' } };
  const evidence = evidenceOf({ ns: ['ns1.dnsco.test'], mx: ['1 aspmx.l.googly.test'], http });
  const before = structuredClone(evidence);
  assert.deepEqual(detect(evidence, testRulebook), detect(structuredClone(evidence), testRulebook));
  assert.deepEqual(evidence, before);
});
it('detect shows the version of the strongest evidence, and of equals the longest', () => {
  const shown = (headers: Record<string, string>, generator = 'x') => {
    const [service] = profileOf({ http: { headers, page: { metas: { generator } } } }).services;
    return [service?.version, service?.platform];
  };
  for (const [headers, expected] of casesOf<[Record<string, string>, unknown][]>('detect', 'versions in headers'))
    assert.deepEqual(shown(headers), expected, JSON.stringify(headers));
  assert.deepEqual(shown({ 'x-powered-by': 'Blogger/1.2.3' }, 'Blogger 9'), ['1.2.3', null]);
});
it('detect sorts services by category, score and provider', () => {
  const { services } = profileOf({
    ns: ['ns-7.awsdns-12.test', 'ns1.dnsco.test'],
    txt: ['socially-verification=1', 'v=spf1 include:sendy.test -all'],
    tls: { issuer: 'Certy' },
    named: { support: aliasTo('helpdesk.test') },
  });
  assert.deepEqual(linesOf(services), [
    ...['dns awsdns high', 'dns dnsco high', 'email_sending sendy medium', 'verified_service helpdesk high'],
    ...['verified_service socially high', 'certificate_authority certy high'],
  ]);
});
it('detect says with each service which rule saw which value, the strongest first', () => {
  const http = { headers: { server: 'Edgy', 'x-edgy-ray': '7' } };
  const { services } = profileOf({ addresses: [{ asn: 64496, asName: 'EDGY', address: '192.0.2.7' }], http });
  assert.deepEqual(services[0]?.evidence, [
    { source: 'header', value: 'x-edgy-ray: 7', rule: 'edgy/header/x-edgy-ray' },
    { source: 'asn', value: 'AS64496 EDGY (192.0.2.7)', rule: 'edgy/asn/64496' },
    { source: 'header', value: 'server: Edgy', rule: 'edgy/header/server: edgy' },
  ]);
});
it('detect names the rulebook and copies domain and time', () => {
  const given = { domain: 'shop.co.uk', observedAt: '2026-01-02T03:04:05Z', rulebook: testRulebook.version };
  assert.partialDeepStrictEqual(profileOf({ domain: 'shop.co.uk' }), given);
});
const evidenceOfTokens = (...tokens: readonly string[]) => {
  const [service, ...rest] = profileOf({ txt: tokens.map((each) => `socially-verification=${each}`) }).services;
  assert.deepEqual(rest, []);
  return service?.evidence ?? [];
};
it('hostile evidence of TXT records is fit to be stored: no 0x00, 256 characters of one record, a short list of 5,000', () => {
  assert.equal(evidenceOfTokens('a\u0000b\ud800')[0]?.value, 'socially-verification=a\ufffdb\ufffd');
  assert.equal(evidenceOfTokens('x'.repeat(65_000))[0]?.value.length, 256);
  assert.equal(evidenceOfTokens(...Array.from({ length: 5000 }, (_, i) => `${i}`)).length, 12);
});
it('hostile evidence with names of object members finds nothing and breaks nothing', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const headers = JSON.parse('{"__proto__": "x", "constructor": "y", "toString": "z"}');
  const named = Object.fromEntries(names.map((name) => [name, aliasTo('constructor')]));
  const page = { markers: names, assets: names, metas: JSON.parse('{"__proto__": {"generator": "Blogger"}}') };
  const http = { headers, cookies: names, page };
  assert.deepEqual(profileOf({ ns: names, txt: names, named, http }).services, []);
});
it('hostile evidence with strange header values is searched at their beginning only', () =>
  assert.deepEqual(profileOf({ http: { headers: { server: `${'x'.repeat(5000)}edgy` } } }).services, []));
it('hostile evidence of any text does not make it throw, and its scores stay in range', () => {
  const text = fc.string({ unit: codePoint, maxLength: 60 });
  const texts = fc.array(text, { maxLength: 4 });
  const records = fc.record({ ns: texts, txt: texts, dmarc: texts, www: texts, wildcardTxt: texts });
  holds(100, [records, text, texts], (parts, url, cookies) => {
    const http = { url, cookies, headers: { server: url } };
    const profile = profileOf({ ...parts, http, tls: { issuer: url, names: cookies } });
    for (const { score, evidence } of profile.services) assert.ok(score > 0 && score <= 0.99 && evidence.length > 0);
    assert.deepEqual(JSON.parse(JSON.stringify(profile)), profile);
  });
});
const piece = (source: ServiceEvidence['source'], value: string, pattern = 'y') => ({
  ...{ source, value, rule: `x/${source}/${pattern}` },
});
it('the sentence of a service says who does what, and what shows it', () => {
  const evidence = [piece('mx', 'aspmx.l.google.com'), piece('spf', '_spf.google.com')];
  const sentence = 'Google hosts the mailboxes: mail exchange aspmx.l.google.com; SPF names _spf.google.com.';
  assert.equal(sentenceOf({ role: 'mailbox', confidence: 'high', evidence }, 'Google'), sentence);
});
it('the sentence of a service distinguishes a key from an alias, and an address from a network', () => {
  const of = (...evidence: ServiceEvidence[]) => sentenceOf({ role: 'sender', confidence: 'high', evidence }, 'X');
  const names = [piece('cname', 'v=DKIM1', 's1._domainkey'), piece('cname', 'x.test', 's1._domainkey=x.test')];
  const sentence = of(...names, piece('asn', 'AS64496', '64496'));
  assert.match(sentence, /: DKIM key v=DKIM1; DKIM alias to x.test; network AS64496.$/);
  const addresses = ['2001:db8::1 in 2001:db8::/32', '192.0.2.1'].map((text) => piece('asn', text, text));
  assert.match(of(...addresses), /: address 2001:db8::1 in 2001:db8::\/32; address 192.0.2.1.$/);
});
it('the sentence of a service says how sure it is, and cuts what is long', () => {
  const five = Array.from({ length: 5 }, () => piece('html', 'z'.repeat(300)));
  const evidence = [piece('header', 'server:  X\n\ty'), ...five];
  const long = `page shows ${'z'.repeat(80)}…`;
  const of = (role: Role, confidence: 'medium' | 'low') => sentenceOf({ role, confidence, evidence }, 'X');
  assert.equal(of('origin', 'medium'), `X probably runs the site: header server: X y; ${long}; ${long}; and 3 more.`);
  assert.match(of('platform', 'low'), /^X perhaps is part of the site: /);
});
const shows = (prefix: string, versions: Record<string, string | null>) => {
  for (const [text, version] of Object.entries(versions)) {
    it(`a version after '${prefix}' in ${JSON.stringify(text.slice(0, 60))} is ${version?.slice(0, 40)}`, () =>
      assert.equal(versionAfter(prefix, text), version));
  }
};
const ofDebian = '7.4.33-1+0~20231101.85+debian11~1.gbp1';
shows('nginx/', {
  ...{ 'nginx/1.18.0 (Ubuntu)': '1.18.0', 'NGINX/1.25.3': '1.25.3', nginx: null, 'nginx/': null },
  ...{ 'nginx/unknown': null, 'mod_nginx/1.0': null, 'mod_nginx/1.0 nginx/1.2': '1.2', 'nginx/ nginx/1.2.': '1.2' },
});
shows('OpenSSL/', { 'Apache/2.4.52 (Win64) OpenSSL/1.1.1n PHP/8.1.2': '1.1.1n' });
shows('PHP/', { [`PHP/${ofDebian}`]: ofDebian });
shows('WordPress ', { 'WordPress v6.4': '6.4', 'WordPress vv6.4': null });
shows('Jetty(', { 'Jetty(9.4.z-SNAPSHOT)': '9.4.z-SNAPSHOT' });
shows('Phusion Passenger(R) ', { 'Phusion Passenger(R) 6.0.18': '6.0.18' });
shows('x/', {
  ...{ [`x/1${'.1'.repeat(31)}`]: `1${'.1'.repeat(31)}`, [`x/1${'.1'.repeat(32)}`]: null },
  // Never cut to another version by the bound on the text.
  ...{ [`${' '.repeat(1_019)}x/1.2.34`]: '1.2.34', [`${' '.repeat(1_023)}x/1.2.34`]: '1.2.34' },
  [`${' '.repeat(1_024)}x/1.2.34`]: null,
  // Its lower case is a letter longer.
  '\u0130\u0130\u0130 x/1.2RC': '1.2rc',
});
const bounded = { [`${' '.repeat(1_020)}1.2.34`]: null };
shows('', { ' v13.1.0 ': '13.1.0', '13.1.': '13.1', '1.2.3, 1.2.3': null, on: null, '': null, ...bounded });
it('a version is a bounded token that is part of the text, or nothing, whatever the text', () => {
  const text = fc.oneof(
    fc.string({ unit: codePoint, maxLength: 80 }),
    fc.array(fc.constantFrom('nginx/', 'v', '1', '.', '9.9', ' ', '(', ')', '+', '~', 'é'), { maxLength: 90 }),
  );
  holds(500, [text, fc.constantFrom('', 'nginx/', '(', '9')], (parts, prefix) => {
    const value = typeof parts === 'string' ? parts : parts.join('');
    const version = versionAfter(prefix, value);
    if (version === null) return;
    assert.match(version, /^[0-9][0-9A-Za-z.+~:_-]{0,63}$/);
    assert.ok(!version.endsWith('.'));
    assert.ok(value.toLowerCase().includes(version.toLowerCase()));
  });
});
it('a version is sought in time that grows with the text, which is read only so far', () => {
  const hostile = ['nginx/'.repeat(200_000), `nginx/${'1.'.repeat(500_000)}`, 'n'.repeat(1_000_000)];
  const startedAt = performance.now();
  for (const text of hostile) {
    for (let i = 0; i < 200; i += 1) assert.equal(versionAfter('nginx/', text), null);
    assert.equal(platformOf('1', `(${' ('.repeat(500_000)}`), null);
  }
  assert.ok(performance.now() - startedAt < 20_000);
});
const is = (platform: string | null, shown: Record<string, string | null>) => {
  for (const [version, header] of Object.entries(shown)) {
    it(`the platform of ${version} in ${header?.slice(0, 50)} is ${platform}`, () =>
      assert.equal(platformOf(version, header), platform));
  }
};
is('ubuntu', { '1.18.0': 'nginx/1.18.0 (Ubuntu)', '8.1.2-1ubuntu2.14': null, '1.24.0-1~jammy': null });
is('ubuntu', { '8.1.2-1Ubuntu2.14': 'Apache (Debian) PHP/8.1.2-1Ubuntu2.14' });
is('debian', { '7.4.33-1+deb11u5': null, '7.4.33-1+0~20231101.85+debian11~1.gbp1': null, '5.3.3-7+squeeze19': null });
const redHat = 'Apache/2.4.6 (Red Hat Enterprise Linux) OpenSSL/1.0.2k-fips';
is('red hat enterprise linux', { '2.4.6': redHat, '1.20.1-14.el9': null });
is('amazon linux', { '2.4.57': 'Apache/2.4.57 (Amazon Linux) PHP/8.2', '1.2.3-4.amzn2': null });
is('win64', { '1.1.1n': 'Apache/2.4.52 (Win64) OpenSSL/1.1.1n' });
is(null, { '8.1.2': null, '9.4.1': 'Jetty(9.4.1)', '6.0.4': 'nginx + Phusion Passenger(R) 6.0.4' });
for (const comment of ['', ' (', ' (@RELEASE@)', ` (${'x'.repeat(33)})`])
  is(null, { '2.4.52': `Apache/2.4.52${comment}` });

it('a distribution is named in brackets', () => {
  const headers = ['(CentOS)', '(Red Hat Enterprise Linux) OpenSSL/1.0.2k-fips', '(Linux/SUSE)'];
  const names = headers.map((each) => distributionIn(`Apache/2.4.6 ${each}`));
  assert.deepEqual(names, ['centos', 'red hat enterprise linux', 'linux/suse']);
});
it('a distribution is null for other systems, and without parentheses or header', () => {
  for (const system of ['(Win64)', '(Unix)', '(FreeBSD)', '(Darwin)', '(Linux)', ''])
    assert.equal(distributionIn(`Apache/2.4.52 ${system}`), null, system);
  assert.equal(distributionIn(null), null);
});
