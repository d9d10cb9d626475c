// From evidence to a profile, on hostile evidence too; catalog/ has tests with the real catalog.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { detect } from './detect.ts';
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
  it('with 0x00 in a token is evidence fit to be stored', () =>
    assert.equal(evidenceOfTokens('a\u0000b\ud800')[0]?.value, 'socially-verification=a\ufffdb\ufffd'));
  it('with 64 KB in one TXT record is cut to 256 characters', () =>
    assert.equal(evidenceOfTokens('x'.repeat(65_000))[0]?.value.length, 256));
  it('with 5,000 TXT records gives one service with a short list', () =>
    assert.equal(evidenceOfTokens(...Array.from({ length: 5000 }, (_, i) => `${i}`)).length, 12));

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
    const late = `${'x'.repeat(5000)}edgy`;
    assert.deepEqual(profileOf({ http: { headers: { server: late } } }).services, []);
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
