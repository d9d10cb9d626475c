// What a search of texts for the expressions of sets rests on, and that it ends, whatever the set and the page.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { extractPage } from '../page.ts';
import { compileSets } from './compile-sets.ts';
import { EngineMemory } from './engine-memory.ts';
import { LiteralIndex } from './literal-index.ts';
import { readFingerprints } from './read-set.ts';
import { Search } from './search.ts';
import { visibleText } from './visible-text.ts';

describe('LiteralIndex', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/'), minLength: 1, maxLength: 6 });
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '/', 'A', 'B', 'é', '\u0000'), maxLength: 60 });
  it('finds what a search for each literal finds', () =>
    holds(3_000, [fc.array(word, { maxLength: 30 }), text], (words, subject) => {
      const index = new LiteralIndex(words.map((literal, i) => [literal, i] as const));
      const lower = subject.replace(/[AB]/g, (letter) => letter.toLowerCase());
      const expected = words.flatMap((literal, i) => (lower.includes(literal) ? [i] : []));
      assert.deepEqual(new Set(index.find(subject)), new Set(expected));
    }));
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

describe('EngineMemory', () => {
  it('makes every engine begin anew after so many steps of all together, and counts from there', () => {
    const memory = new EngineMemory();
    const forgotten: string[] = [];
    const engine = (name: string) => ({ forget: () => void forgotten.push(name) });
    const [a, b, c] = [engine('a'), engine('b'), engine('c')];
    for (let i = 0; i < 64; i++) memory.count(i % 2 === 0 ? a : b, 2 ** 22);
    assert.deepEqual(forgotten, []);
    memory.count(c, 1);
    assert.deepEqual(forgotten, ['a', 'b'], 'the one that is about to run stays');
    memory.count(a, 2 ** 28 - 1);
    assert.equal(forgotten.length, 2);
    memory.count(b, 1);
    assert.deepEqual(forgotten, ['a', 'b', 'c', 'a']);
  });
});

describe('visibleText', () => {
  it('is what a reader sees, with single blanks', () => {
    const page =
      '<title>T</title><p>One&nbsp;&amp;\n <b>two</b>three</p><!-- no --><style>p{}</style><SCRIPT>x("<p>no</p>")</SCRIPT>four';
    assert.equal(visibleText(page), 'T One & two three four');
    assert.equal(visibleText('<img alt="no"><template><i>no</i>no</template><noscript>no</noscript>yes'), 'yes');
  });
  it('takes pages of any quality', () => {
    const pages = ['', '<', '<a', '<script>', '<p>a<script>b', '</p></p>a', '&#0;&bogus;', '<![CDATA[x]]>', '\ud800'];
    for (const page of pages) assert.equal(typeof visibleText(page), 'string');
  });
  it('takes time in proportion to the page', () => {
    const startedAt = performance.now();
    for (const piece of ['<p>', '<script>', '</', '&', '<a b="', '<!--', ' ', '<style><'])
      visibleText(piece.repeat(200_000));
    // About a second; time that grows with the square would take hours.
    assert.ok(performance.now() - startedAt < 20_000);
  });
});

describe('a search of hostile pages with hostile sets', () => {
  const evil = ['(a+)+$', '(a|aa)+!', '<[^>]{0,500}evil', '(?:e.*v.*i.*l.*){5}!', '\\s+evil\\s+$', '(?:evil[^<]*)+<'];
  const searchOf = (count: number, fields: object) => {
    const technology = { cats: [1], website: 'https://x.example', ...fields };
    const content = Object.fromEntries(Array.from({ length: count }, (_, i) => [`E${i}`, technology]));
    return new Search(compileSets(readFingerprints([{ name: 't.json', content }]), []));
  };

  it('stops at its bound, whatever the set and the page', () => {
    const at = { url: 'https://x.example/', isTruncated: false, keepSource: true };
    const { source = '' } = extractPage('<evil aaaa'.repeat(50_000), at);
    const search = searchOf(600, { html: evil, text: evil, scriptSrc: evil });
    search.matches('html', '', source);
    const scripts = Array.from({ length: 200 }, (_, i) => `https://x.example/${i}/${'evil/'.repeat(90)}`);
    search.firstMatches('scriptSrc', scripts);
    assert.ok(search.steps <= 64_000_000, `${search.steps} steps`);
  });
  it('does work in proportion to the page below it', () => {
    const stepsOf = (length: number) => {
      const search = searchOf(1, { html: evil });
      search.matches('html', '', ' evil'.repeat(length / 5));
      return search.steps;
    };
    assert.ok(stepsOf(500) > 0);
    assert.ok(Math.abs(stepsOf(4_000) / stepsOf(500) - 8) < 0.5);
  });
});
