import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { TextTrie } from './text-trie.ts';

function trieOf(...texts: string[]): TextTrie<string> {
  const trie = new TextTrie<string>();
  for (const text of texts) trie.add(text, text);
  return trie;
}

describe('TextTrie', () => {
  it('finds the longest pattern that stands at a place', () => {
    const trie = trieOf('google-', 'google-site-verification=', 'goo');
    assert.deepEqual(trie.findAt('google-site-verification=abc'), ['google-site-verification=']);
    assert.deepEqual(trie.findAt('google-other'), ['google-']);
    assert.deepEqual(trie.findAt('xgoogle-', 1), ['google-']);
    assert.deepEqual(trie.findAt('xgoogle-'), []);
    assert.deepEqual(trie.findAt('go'), []);
    assert.deepEqual(trie.findAt('google-', 99), []);
  });

  it('finds at any place what a loop over all patterns finds, in whatever order they were added', () => {
    const pattern = fc.stringMatching(/^[abé]{0,5}$/);
    fc.assert(
      fc.property(fc.uniqueArray(pattern, { maxLength: 10 }), fc.stringMatching(/^[abé]{0,10}$/), (patterns, text) => {
        const trie = trieOf(...patterns);
        for (let at = 0; at <= text.length; at++) {
          const [longest] = patterns
            .filter((each) => text.startsWith(each, at))
            .toSorted((a, b) => b.length - a.length);
          assert.deepEqual(trie.findAt(text, at), longest === undefined ? [] : [longest], `${text} at ${at}`);
        }
      }),
    );
  });

  it('finds patterns wherever a word begins, each once', () => {
    assert.deepEqual(trieOf('nginx', 'php').findWords('php nginx nginx php'), ['php', 'nginx']);
    assert.deepEqual(trieOf().findWords('anything'), []);
    assert.deepEqual(trieOf('h2o/', 'x-').findWords('xh2o/1 (h2o/2)ax-'), ['h2o/']);
  });

  it('finds in a text whatever the text includes', () => {
    const word = fc.stringMatching(/^[ab]{1,3}$/);
    fc.assert(
      fc.property(fc.uniqueArray(word, { maxLength: 6 }), fc.stringMatching(/^[ab ]{0,12}$/), (words, text) => {
        const found = trieOf(...words).findWords(text);
        assert.equal(
          found.length > 0,
          words.some((w) => text.startsWith(w) || text.includes(` ${w}`)),
        );
        for (const w of found) assert.ok(text.includes(w));
      }),
    );
  });
});
