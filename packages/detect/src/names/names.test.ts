import assert from 'node:assert/strict';
import { it } from 'node:test';
import { codePoint, fc, holds } from '../../../../tests/support/property.ts';
import { vectorsIn } from '../../../../tests/support/vectors.ts';
import manifest from '../../package.json' with { type: 'json' };
import { isMachineName } from './machine-name.ts';
import { hostIn, nameColumn } from './name-column.ts';
import {
  hasSameOwner,
  hostOfUrl,
  PUBLIC_SUFFIX_LIST,
  parseDomain,
  privateSuffixOf,
  registrableDomain,
} from './names.ts';
import { decodePunycode } from './punycode.ts';

interface NameVectors {
  accepted: { input: string; host: string; domain: string; why: string }[];
  refused: { input: string; problem: string; why: string }[];
  machines: { name: string; isMachine: boolean }[];
  /** Some are of RFC 3492 §7.1, samples (A), (B), (G) and (L). */
  punycode: { encoded: string; unicode: string | null }[];
  columns: { first: string; second: string; column: number; hasHeader: boolean }[];
}

const vectors = vectorsIn<NameVectors>('names.json');
const short = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

for (const { input, host, domain, why } of vectors.accepted)
  it(`parseDomain accepts ${short(input)}: ${why}`, () =>
    assert.deepEqual(parseDomain(input), { ok: true, host, domain }));

for (const { input, problem, why } of vectors.refused) {
  it(`parseDomain refuses ${short(input)} as ${problem}, with a sentence for the user: ${why}`, () => {
    const { message, ...rest } = { message: '', ...parseDomain(input) };
    assert.deepEqual(rest, { ok: false, problem });
    assert.match(message, /^\S.*[.]$/);
  });
}
it('parseDomain refuses a lone surrogate, which no UTF-8 can carry, and a megabyte of colons without delay', () => {
  for (const text of ['\ud800.com', `${':'.repeat(1_000_000)}x`, `${':'.repeat(1000)}x`])
    assert.equal(parseDomain(text).ok, false, text.slice(0, 40));
});
it('the date of the Public Suffix List is that of the package in use', () =>
  assert.equal(PUBLIC_SUFFIX_LIST.source, `tldts ${manifest.dependencies.tldts}`));
it('parseDomain takes what it gives, unchanged', () =>
  holds(500, [fc.oneof(fc.domain(), fc.string({ unit: 'grapheme', maxLength: 40 }))], (input) => {
    const first = parseDomain(input);
    if (!first.ok) return;
    assert.deepEqual(parseDomain(first.domain), { ok: true, host: first.domain, domain: first.domain });
  }));
it('parseDomain gives a host that only has the characters of the DNS, within its lengths', () =>
  holds(500, [fc.string({ unit: codePoint, maxLength: 80 })], (text) => {
    const result = parseDomain(`${text}.com`);
    if (!result.ok) return;
    assert.match(result.host, /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})+$/);
    assert.ok(result.host.length <= 253);
  }));

it('registrableDomain uses the suffix list, private suffixes included, and has none of a suffix or an address', () => {
  const hosts = 'www.example.com www.example.com. shop.example.co.uk me.github.io _spf.example.com'.split(' ');
  const domains = 'example.com example.com example.co.uk me.github.io example.com'.split(' ');
  assert.deepEqual(hosts.map(registrableDomain), domains);
  assert.deepEqual(['github.io', '192.0.2.1'].map(registrableDomain), [null, null]);
  const suffixes = ['me.github.io', 'shop.example.co.uk', 'example.com', 'a.eu.platform.sh'].map(privateSuffixOf);
  assert.deepEqual(suffixes, ['github.io', null, null, 'eu.platform.sh']);
});

for (const { encoded, unicode } of vectors.punycode)
  it(`decodePunycode reads ${encoded} as ${unicode}`, () => assert.equal(decodePunycode(encoded), unicode));

const letter = fc.integer({ min: 0x61, max: 0x2fff }).map((code) => String.fromCodePoint(code));
it('decodePunycode undoes what the URL parser encodes', () =>
  holds(500, [fc.string({ unit: letter, minLength: 1, maxLength: 12 })], (text) => {
    const label = URL.parse(`http://${text}/`)?.hostname;
    if (!label?.startsWith('xn--') || label.includes('.')) return;
    assert.equal(URL.parse(`http://${decodePunycode(label.slice(4))}/`)?.hostname, label);
  }));

it('hasSameOwner compares registrable domains, by the labels that two hosts share and by the suffix list', () => {
  const below = ['mail.example.com a.b.example.com', 'x.me.github.io me.github.io'];
  const same = ['example.com example.com', 'com com', ...below];
  const different = ['example.com notexample.com', 'example.com example.net', 'a.co.uk b.co.uk', 'co.uk a.co.uk'];
  for (const pair of [...same, ...different, 'me.github.io you.github.io', ' example.com']) {
    const [host = '', other = ''] = pair.split(' ');
    const both = [hasSameOwner(host, other), hasSameOwner(other, host)];
    assert.deepEqual(both, [same.includes(pair), same.includes(pair)], pair);
  }
});
it('hostOfUrl reads plain URLs as the URL parser does, and leaves the rest to it', () => {
  const plain = 'https://example.com/ http://a-b_c.example.com:8080/x?y#z https://example.com https://1.2.3/';
  const odd = 'https://user@example.com/ https://user:secret@example.com/ https://victim.example:x@evil.example/';
  const hosts =
    'https://0x7f.1/ https://xn--a.evil.example/ https://EXAMPLE.com/ https://bücher.example/ https://[::1]/';
  const unusual = 'https://a.example:1x/ https://example.com:99999/ https://example.com?x ftp://example.com/ nonsense';
  for (const url of [...`${plain} ${odd} ${hosts} ${unusual}`.split(' '), ''])
    assert.equal(hostOfUrl(url), URL.parse(url)?.hostname ?? null, url);
});

for (const { name, isMachine } of vectors.machines)
  it(`the name of a rented machine is ${isMachine ? '' : 'not '}${name}`, () =>
    assert.equal(isMachineName(name), isMachine));
it('the name of a rented machine is decided in linear time', () => {
  const startedAt = performance.now();
  for (const host of [`${'1-'.repeat(200_000)}x`, '1.'.repeat(200_000)]) isMachineName(host);
  assert.ok(performance.now() - startedAt < 10_000);
});

for (const { first, second, column, hasHeader } of vectors.columns)
  it(`a list in CSV ${first} / ${second} has its names in column ${column}, ${hasHeader ? 'below' : 'without'} a header`, () => {
    const rows = [first, second].map((row) => row.split(/,(?! )/));
    assert.deepEqual(nameColumn(rows), { column, hasHeader });
  });
it('a list in CSV may have URLs and e-mail addresses', () => {
  const texts = ['https://u:p@WWW.a.com:8443/x#y', 'a.com/x?y#z\n/', 'https://', '//a.com', '?', '@a.com', 'a@b@c.de'];
  assert.deepEqual(texts.map(hostIn), ['www.a.com', 'a.com', 'https://', 'a.com', '', '@a.com', 'a@b@c.de']);
  for (const text of [' me@a.com ', 'MAILTO:me@a.com?subject=x', 'Ann B <me@a.com>', '<https://a.com/>', '//a.com/x'])
    assert.equal(hostIn(text), 'a.com');
});
