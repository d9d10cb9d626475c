import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { HostTrie } from './host-trie.ts';

function trieOf(...patterns: string[]): HostTrie<string> {
  const trie = new HostTrie<string>();
  for (const pattern of patterns) trie.add(pattern, pattern);
  return trie;
}

describe('HostTrie', () => {
  for (const [pattern, fitting, others] of [
    ['pphosted.com', 'pphosted.com mxa-1.gslb.pphosted.com', 'notpphosted.com pphosted.com.evil.net'],
    ['*.awsdns-*.com', 'ns-1.awsdns-12.com', 'awsdns-12.com ns-1.awsdns-12.evil.com ns-1.myawsdns-12.com'],
    ['ns*.example.net', 'ns1.example.net a.ns1.example.net ns.example.net', 'dns1.example.net'],
    ['a*b*c.test', 'aXbYc.test abc.test', 'acb.test'],
    ['ab*ba.test', 'abba.test', 'aba.test'],
    ['_spf.google.com', '_spf.google.com ._spf.google.com', ' .. google.com'],
  ] as const) {
    it(`${pattern} fits ${fitting}, and not ${others}`, () => {
      for (const host of fitting.split(' ')) assert.deepEqual(trieOf(pattern).find(host), [pattern], host);
      for (const host of others.split(' ')) assert.deepEqual(trieOf(pattern).find(host), [], host);
    });
  }

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
    const host = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 4 });
    holds(100, [patterns, host], (all, labels) => {
      const fits = all.filter((pattern) => toRegExp(pattern).test(labels.join('.')));
      const found = trieOf(...all).find(labels.join('.'));
      assert.equal(found.length > 0, fits.length > 0);
      const depth = (pattern: string) => pattern.split('.').length;
      const deepest = Math.max(0, ...fits.map(depth));
      for (const pattern of found) assert.ok(fits.includes(pattern) && depth(pattern) === deepest);
    });
  });

  it('walks a name of the longest length with globs at every label', () => {
    const repeated = (label: string, count: number) => Array.from({ length: count }, () => label).join('.');
    assert.equal(trieOf(repeated('a*', 20), repeated('*a', 20)).find(repeated('a', 127)).length, 1);
  });
});

function toRegExp(pattern: string): RegExp {
  return new RegExp(`(?:^|\\.)${pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]*')}$`);
}
