import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { HostTrie } from './host-trie.ts';

function trieOf(...patterns: string[]): HostTrie<string> {
  const trie = new HostTrie<string>();
  for (const pattern of patterns) trie.add(pattern, pattern);
  return trie;
}

describe('HostTrie', () => {
  const table: [pattern: string, host: string, doesMatch: boolean][] = [
    ['pphosted.com', 'pphosted.com', true],
    ['pphosted.com', 'mxa-1.gslb.pphosted.com', true],
    ['pphosted.com', 'notpphosted.com', false],
    ['pphosted.com', 'pphosted.com.evil.net', false],
    ['*.awsdns-*.com', 'ns-1.awsdns-12.com', true],
    ['*.awsdns-*.com', 'awsdns-12.com', false],
    ['*.awsdns-*.com', 'ns-1.awsdns-12.evil.com', false],
    ['*.awsdns-*.com', 'ns-1.myawsdns-12.com', false],
    ['ns*.example.net', 'ns1.example.net', true],
    ['ns*.example.net', 'a.ns1.example.net', true],
    ['ns*.example.net', 'ns.example.net', true],
    ['ns*.example.net', 'dns1.example.net', false],
    ['a*b*c.test', 'aXbYc.test', true],
    ['a*b*c.test', 'abc.test', true],
    ['a*b*c.test', 'acb.test', false],
    ['ab*ba.test', 'aba.test', false],
    ['_spf.google.com', '_spf.google.com', true],
    ['example.com', '', false],
    ['example.com', '..', false],
    ['example.com', '.example.com', true],
  ];
  for (const [pattern, host, doesMatch] of table) {
    it(`${pattern} ${doesMatch ? 'fits' : 'does not fit'} '${host}'`, () =>
      assert.deepEqual(trieOf(pattern).find(host), doesMatch ? [pattern] : []));
  }

  it('lets the pattern with the most labels win, whatever the order of adding', () => {
    for (const patterns of [
      ['outlook.com', 'mail.protection.outlook.com'],
      ['mail.protection.outlook.com', 'outlook.com'],
    ]) {
      const trie = trieOf(...patterns);
      assert.deepEqual(trie.find('acme.mail.protection.outlook.com'), ['mail.protection.outlook.com']);
      assert.deepEqual(trie.find('hotmail.outlook.com'), ['outlook.com']);
    }
  });

  it('prefers a plain label to a glob and a longer glob to a shorter one', () => {
    assert.deepEqual(trieOf('ns*.test', 'ns1.test').find('ns1.test'), ['ns1.test']);
    assert.deepEqual(trieOf('n*.test', 'ns-*.test').find('ns-1.test'), ['ns-*.test']);
  });
  it('finds the deeper pattern behind a glob although a plain label fits too', () =>
    assert.deepEqual(trieOf('ns1.test', 'a.ns*.test').find('a.ns1.test'), ['a.ns*.test']));

  it('gives every value of one pattern, and every pattern on request', () => {
    const trie = trieOf('a.test', 'a.test', 'test');
    assert.deepEqual(trie.find('x.a.test'), ['a.test', 'a.test']);
    assert.deepEqual(trie.findEvery('x.a.test'), ['test', 'a.test', 'a.test']);
  });
  it('takes labels that name members of every object', () => {
    assert.deepEqual(trieOf('example.com').find('__proto__.constructor'), []);
    assert.deepEqual(trieOf('__proto__').find('constructor.__proto__'), ['__proto__']);
  });

  it('agrees with a loop over all patterns on whether anything fits', () => {
    const label = fc.stringMatching(/^[ab*]{1,3}$/);
    const patterns = fc.array(
      fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.')),
      { maxLength: 8 },
    );
    const host = fc
      .array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 4 })
      .map((labels) => labels.join('.'));
    fc.assert(
      fc.property(patterns, host, (all, name) => {
        const fits = all.filter((pattern) => toRegExp(pattern).test(name));
        const found = trieOf(...all).find(name);
        assert.equal(found.length > 0, fits.length > 0);
        const depth = (pattern: string) => pattern.split('.').length;
        const deepest = Math.max(0, ...fits.map(depth));
        for (const pattern of found) assert.ok(fits.includes(pattern) && depth(pattern) === deepest);
      }),
    );
  });

  it('walks a name of the longest length with globs at every label', () => {
    const trie = trieOf(
      Array.from({ length: 20 }, () => 'a*').join('.'),
      Array.from({ length: 20 }, () => '*a').join('.'),
    );
    assert.equal(trie.find(Array.from({ length: 127 }, () => 'a').join('.')).length, 1);
  });
});

function toRegExp(pattern: string): RegExp {
  return new RegExp(`(?:^|\\.)${pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]*')}$`);
}
