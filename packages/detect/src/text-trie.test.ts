import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../tests/support/property.ts';
import { TextTrie } from './text-trie.ts';

function trieOf(...texts: string[]): TextTrie<string> {
  const trie = new TextTrie<string>();
  for (const text of texts) trie.add(text, text);
  return trie;
}

describe('TextTrie', () => {
  it('finds at any place what a loop over all patterns finds, in whatever order they were added', () => {
    const pattern = fc.stringMatching(/^[abé]{0,5}$/);
    const text = fc.stringMatching(/^[abé]{0,10}$/);
    holds(100, [fc.uniqueArray(pattern, { maxLength: 10 }), text], (patterns, within) => {
      const trie = trieOf(...patterns);
      for (let at = 0; at <= within.length; at++) {
        const fitting = patterns.filter((each) => within.startsWith(each, at));
        const [longest] = fitting.toSorted((a, b) => b.length - a.length);
        assert.deepEqual(trie.findAt(within, at), longest === undefined ? [] : [longest], `${within} at ${at}`);
      }
    });
    assert.deepEqual(trieOf('google-').findAt('google-', 99), []);
  });

  it('finds patterns wherever a word begins, each once', () => {
    assert.deepEqual(trieOf('nginx', 'php').findWords('php nginx nginx php'), ['php', 'nginx']);
    assert.deepEqual(trieOf().findWords('anything'), []);
    assert.deepEqual(trieOf('h2o/', 'x-').findWords('xh2o/1 (h2o/2)ax-'), ['h2o/']);
  });

  it('finds in a text whatever the text includes', () => {
    const word = fc.stringMatching(/^[ab]{1,3}$/);
    holds(100, [fc.uniqueArray(word, { maxLength: 6 }), fc.stringMatching(/^[ab ]{0,12}$/)], (words, text) => {
      const found = trieOf(...words).findWords(text);
      const isThere = words.some((each) => text.startsWith(each) || text.includes(` ${each}`));
      assert.equal(found.length > 0, isThere);
      for (const each of found) assert.ok(text.includes(each));
    });
  });
});
