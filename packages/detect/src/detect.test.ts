// From evidence to a profile, on hostile evidence too; catalog/ has tests with the real catalog.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { detect } from './detect.ts';
import type { Role, ServiceEvidence } from './profile.ts';
import { sentenceOf } from './sentence.ts';
import { aliasTo, evidenceOf } from './test/evidence-of.ts';
import { linesOf, profileOf, testRulebook } from './test/rulebook-of.ts';

describe('detect', () => {
  it('is a function of its arguments alone', () => {
    const http = { headers: { 'x-edgy-ray': '1' } };
    const evidence = evidenceOf({ ns: ['ns1.dnsco.test'], mx: ['1 aspmx.l.googly.test'], http });
    const before = structuredClone(evidence);
    assert.deepEqual(detect(evidence, testRulebook), detect(structuredClone(evidence), testRulebook));
    assert.deepEqual(evidence, before);
  });
  it('tells the version that the strongest evidence shows, and of equals the longest', () => {
    const shown = (headers: Record<string, string>, generator = 'x') => {
      const [service] = profileOf({ http: { headers, page: { metas: { generator } } } }).services;
      return [service?.version, service?.platform];
    };
    const full = 'Blogger/1.2.3 (Ubuntu)';
    for (const [headers, expected] of [
      [{ 'x-powered-by': 'Blogger/1.2', server: full }, ['1.2.3', 'ubuntu']],
      [{ server: full, 'x-powered-by': 'Blogger/1.2.3' }, ['1.2.3', 'ubuntu']],
      [{ 'x-powered-by': 'Blogger/1.2.3', server: full }, ['1.2.3', 'ubuntu']],
      [{ 'x-blogger': '2', server: full }, ['2', 'ubuntu']],
      [{ 'x-blogger': '2', server: 'Blogger/1.2.3 (Win64)' }, ['2', null]],
      [{ 'x-blogger': 'on', server: full }, ['1.2.3', 'ubuntu']],
      [{ 'x-powered-by': 'Blogger' }, [null, null]],
      // The order of headers decides nothing.
      [{ server: 'Blogger/1.3', 'x-powered-by': 'Blogger/1.2' }, ['1.3', null]],
      [{ 'x-powered-by': 'Blogger/1.2', server: 'Blogger/1.3' }, ['1.3', null]],
    ] as const) {
      assert.deepEqual(shown(headers), expected, JSON.stringify(headers));
    }
    assert.deepEqual(shown({ 'x-powered-by': 'Blogger/1.2.3' }, 'Blogger 9'), ['9', null]);
  });
  it('sorts services by category, score and provider', () => {
    const { services } = profileOf({
      ns: ['ns-7.awsdns-12.test', 'ns1.dnsco.test'],
      txt: ['socially-verification=1', 'v=spf1 include:sendy.test -all'],
      tls: { issuer: 'Certy' },
      named: { support: aliasTo('helpdesk.test') },
    });
    assert.deepEqual(linesOf(services), [
      ...['dns awsdns high', 'dns dnsco high', 'email_sending sendy high', 'verified_service helpdesk high'],
      ...['verified_service socially medium', 'certificate_authority certy high'],
    ]);
  });
  it('says with each service which rule saw which value, the strongest first', () => {
    const { services } = profileOf({
      addresses: [{ asn: 64496, asName: 'EDGY', address: '192.0.2.7' }],
      http: { headers: { server: 'Edgy', 'x-edgy-ray': '7' } },
    });
    assert.deepEqual(services[0]?.evidence, [
      { source: 'header', value: 'x-edgy-ray: 7', rule: 'edgy/header/x-edgy-ray' },
      { source: 'asn', value: 'AS64496 EDGY (192.0.2.7)', rule: 'edgy/asn/64496' },
      { source: 'header', value: 'server: Edgy', rule: 'edgy/header/server: edgy' },
    ]);
  });
  it('names the rulebook and copies domain and time', () => {
    const { domain, observedAt, rulebook } = profileOf({ domain: 'shop.co.uk' });
    assert.deepEqual([domain, observedAt, rulebook], ['shop.co.uk', '2026-01-02T03:04:05Z', testRulebook.version]);
  });
});

describe('hostile evidence', () => {
  const evidenceOfTokens = (...tokens: readonly string[]) => {
    const [service, ...others] = profileOf({ txt: tokens.map((each) => `socially-verification=${each}`) }).services;
    assert.deepEqual(others, []);
    return service?.evidence ?? [];
  };
  it('of TXT records is fit to be stored: no 0x00, 256 characters of one record, a short list of 5,000', () => {
    assert.equal(evidenceOfTokens('a\u0000b\ud800')[0]?.value, 'socially-verification=a\ufffdb\ufffd');
    assert.equal(evidenceOfTokens('x'.repeat(65_000))[0]?.value.length, 256);
    assert.equal(evidenceOfTokens(...Array.from({ length: 5000 }, (_, i) => `${i}`)).length, 12);
  });
  it('with names of object members finds nothing and breaks nothing', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const headers = JSON.parse('{"__proto__": "x", "constructor": "y", "toString": "z"}');
    const named = Object.fromEntries(names.map((name) => [name, aliasTo('constructor')]));
    const metas = JSON.parse('{"__proto__": {"generator": "Blogger"}}');
    const page = { markers: names, assets: names, metas };
    const profile = profileOf({ ns: names, txt: names, named, http: { headers, cookies: names, page } });
    assert.deepEqual(profile.services, []);
  });
  it('with strange header values is searched at their beginning only', () => {
    assert.deepEqual(profileOf({ http: { headers: { server: `${'x'.repeat(5000)}edgy` } } }).services, []);
  });
  it('of any text does not make it throw, and its scores stay in range', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 });
    const texts = fc.array(text, { maxLength: 4 });
    const records = fc.record({ ns: texts, txt: texts, dmarc: texts, www: texts, wildcardTxt: texts });
    holds(100, [records, text, texts], (parts, url, cookies) => {
      const http = { url, cookies, headers: { server: url } };
      const profile = profileOf({ ...parts, http, tls: { issuer: url, names: cookies } });
      for (const { score, evidence } of profile.services) assert.ok(score > 0 && score <= 0.99 && evidence.length > 0);
      assert.deepEqual(JSON.parse(JSON.stringify(profile)), profile);
    });
  });
});

describe('the sentence of a service', () => {
  const seen = (source: ServiceEvidence['source'], value: string) => ({ source, value, rule: `x/${source}/y` });
  it('says who does what, and what shows it', () => {
    const evidence = [seen('mx', 'aspmx.l.google.com'), seen('spf', '_spf.google.com')];
    const sentence = 'Google keeps the mail: mail exchange aspmx.l.google.com; SPF names _spf.google.com.';
    assert.equal(sentenceOf({ role: 'mailbox', confidence: 'high', evidence }, 'Google'), sentence);
  });
  it('says how sure it is, and cuts what is long', () => {
    const five = Array.from({ length: 5 }, () => seen('html', 'z'.repeat(300)));
    const evidence = [seen('header', 'server:  X\n\ty'), ...five];
    const long = `page shows ${'z'.repeat(80)}…`;
    const of = (role: Role, confidence: 'medium' | 'low') => sentenceOf({ role, confidence, evidence }, 'X');
    assert.equal(of('origin', 'medium'), `X probably runs the site: header server: X y; ${long}; ${long}; and 3 more.`);
    assert.match(of('platform', 'low'), /^X perhaps is part of the site: /);
  });
});
