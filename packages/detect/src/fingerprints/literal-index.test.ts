import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { LiteralIndex } from './literal-index.ts';

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/'), minLength: 1, maxLength: 6 });
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', 'A', 'B', 'é', '\u0000'), maxLength: 60 });

describe('LiteralIndex', () => {
  it('finds what a search for each literal finds', () =>
    holds(3_000, [fc.array(word, { maxLength: 30 }), text], (words, subject) => {
      const index = new LiteralIndex(words.map((literal, i) => [literal, i] as const));
      const lower = subject.replace(/[AB]/g, (letter) => letter.toLowerCase());
      const expected = words.flatMap((literal, i) => (lower.includes(literal) ? [i] : []));
      const found = [...index.find(subject)].sort((a, b) => a - b);
      assert.deepEqual(found, expected);
    }));

  it('finds nothing when it holds nothing', () => assert.equal(new LiteralIndex<string>([]).find('anything').size, 0));

  it('is not slowed down by how many values a literal has, or how often it stands in the text', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ['aaaa', i] as const);
    const nested = Array.from({ length: 60 }, (_, i) => ['a'.repeat(i + 1), -1 - i] as const);
    const index = new LiteralIndex([...many, ...nested]);
    const startedAt = performance.now();
    assert.equal(index.find('a'.repeat(64_000)).size, many.length + nested.length);
    // Milliseconds; each value at each position would take minutes.
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
