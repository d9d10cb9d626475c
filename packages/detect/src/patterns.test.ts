import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { HostTrie } from './host-trie.ts';
import { TextTrie } from './text-trie.ts';

function filled<Trie extends HostTrie<string> | TextTrie<string>>(trie: Trie, texts: readonly string[]): Trie {
  for (const text of texts) trie.add(text, text);
  return trie;
}
const trieOf = (...patterns: string[]) => filled(new HostTrie<string>(), patterns);
const textsOf = (...texts: string[]) => filled(new TextTrie<string>(), texts);

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
      const findIn = (hosts: string) => hosts.split(' ').map((host) => trieOf(pattern).find(host).join());
      assert.deepEqual([new Set(findIn(fitting)), new Set(findIn(others))], [new Set([pattern]), new Set([''])]);
    });
  }
  it('prefers a plain label to a glob, a longer glob to a shorter one, and before all the deeper pattern', () => {
    assert.deepEqual(trieOf('ns*.test', 'ns1.test').find('ns1.test'), ['ns1.test']);
    assert.deepEqual(trieOf('n*.test', 'ns-*.test').find('ns-1.test'), ['ns-*.test']);
    assert.deepEqual(trieOf('ns1.test', 'a.ns*.test').find('a.ns1.test'), ['a.ns*.test']);
  });
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
    const pattern = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
    const host = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 4 });
    holds(100, [fc.array(pattern, { maxLength: 8 }), host], (all, labels) => {
      const fits = all.filter((pattern) => toRegExp(pattern).test(labels.join('.')));
      const found = trieOf(...all).find(labels.join('.'));
      assert.equal(found.length > 0, fits.length > 0);
      const depth = (each: string) => each.split('.').length;
      const deepest = Math.max(0, ...fits.map(depth));
      for (const each of found) assert.ok(fits.includes(each) && depth(each) === deepest);
    });
  });
  it('walks a name of the longest length with globs at every label', () => {
    const repeated = (label: string, count: number) => Array.from({ length: count }, () => label).join('.');
    assert.equal(trieOf(repeated('a*', 20), repeated('*a', 20)).find(repeated('a', 127)).length, 1);
  });
});

describe('TextTrie', () => {
  it('finds at any place what a loop over all patterns finds, in whatever order they were added', () => {
    const pattern = fc.stringMatching(/^[abé]{0,5}$/);
    const text = fc.stringMatching(/^[abé]{0,10}$/);
    holds(100, [fc.uniqueArray(pattern, { maxLength: 10 }), text], (patterns, within) => {
      const trie = textsOf(...patterns);
      for (let at = 0; at <= within.length; at++) {
        const fitting = patterns.filter((each) => within.startsWith(each, at));
        const [longest] = fitting.toSorted((a, b) => b.length - a.length);
        assert.deepEqual(trie.findAt(within, at), longest === undefined ? [] : [longest], `${within} at ${at}`);
      }
    });
    assert.deepEqual(textsOf('google-').findAt('google-', 99), []);
  });
  it('finds patterns wherever a word begins, each once', () => {
    assert.deepEqual(textsOf('nginx', 'php').findWords('php nginx nginx php'), ['php', 'nginx']);
    assert.deepEqual(textsOf().findWords('anything'), []);
    assert.deepEqual(textsOf('h2o/', 'x-').findWords('xh2o/1 (h2o/2)ax-'), ['h2o/']);
  });
  it('finds in a text whatever the text includes', () => {
    const word = fc.stringMatching(/^[ab]{1,3}$/);
    holds(100, [fc.uniqueArray(word, { maxLength: 6 }), fc.stringMatching(/^[ab ]{0,12}$/)], (words, text) => {
      const found = textsOf(...words).findWords(text);
      const isThere = words.some((each) => text.startsWith(each) || text.includes(` ${each}`));
      assert.equal(found.length > 0, isThere);
      for (const each of found) assert.ok(text.includes(each));
    });
  });
});

function toRegExp(pattern: string): RegExp {
  return new RegExp(`(?:^|\\.)${pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]*')}$`);
}
