// The properties of a search: expressions keep JavaScript's meaning, run in linear time, and only with their literals;
// it ends for any set and page.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../../tests/support/property.ts';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { extractPage } from '../../evidence/page.ts';
import { compileSets } from '../compile/compile-sets.ts';
import { LiteralIndex } from '../compile/literal-index.ts';
import { EngineMemory } from '../pattern/engine-memory.ts';
import { LinearRegex, readPattern, versionShown } from '../pattern/pattern.ts';
import { readFingerprints } from '../read/read-set.ts';
import { Search } from './search.ts';
import { visibleText } from './visible-text.ts';

/** Sources of expressions, of all that is supported, over few letters so that they often match. */
const { expression } = fc.letrec<{ expression: string; atom: string; piece: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.constantFrom(...'a b A abc abc c1- / \\. \\/ \\d \\w \\s \\S . - \\x61'.split(' '), ' '),
    fc.constantFrom('[ab]', '[^a]', '[a-c1]', '[\\w-]', '[\\d.]', '[^\\s]', '[A-C]', '^', '$', '\\b', '\\B', '{', '}'),
    fc.tuple(fc.constantFrom('', '?:'), tie('expression')).map(([kind, inner]) => `(${kind}${inner})`),
  ),
  piece: fc
    .tuple(tie('atom'), fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{0,2}', '*?', '+?', '??', '{1,}'))
    .map(([atom, count]) => (/^(?:\^|\$|\\b|\\B)$/.test(atom) ? atom : `${atom}${count}`)),
  expression: fc
    .array(fc.array(tie('piece'), { maxLength: 4 }), { minLength: 1, maxLength: 2 })
    .map((choices) => choices.map((pieces) => pieces.join('')).join('|')),
}));
const letters = ['a', 'b', 'c', 'A', 'B', '1', '/', '.', '-', ' ', '\n', 'abc', 'ABC', '{', 'ſ', '\u212a', 'é'];
const text = fc.array(fc.constantFrom(...letters), { maxLength: 6 }).map((parts) => parts.join(''));
const capturesOf = (match: RegExpExecArray | null) => match && [...match].map((capture) => capture ?? '');

function reasonFor(pattern: string): string {
  try {
    return readPattern(pattern) && '';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('an expression of a community set', () => {
  it('matches what it matches in JavaScript, with the same captures', () =>
    holds(1_000, [expression, fc.array(text, { minLength: 1, maxLength: 8 })], (source, texts) => {
      fc.pre(reasonFor(source) === '');
      const isRepeatedGroup = /\)[*+?{]/.test(source);
      const native = new RegExp(source, 'i');
      const linear = new LinearRegex(source);
      for (const each of texts) {
        const expected = native.exec(each);
        assert.equal(linear.test(each), expected !== null, JSON.stringify([source, each]));
        // JavaScript goes back from an empty round of a group, which moves the end of the match, not its being.
        if (isRepeatedGroup) continue;
        assert.deepEqual(linear.captures(each), capturesOf(expected), JSON.stringify([source, each]));
      }
    }));
  it('captures what JavaScript captures of repeated groups that are not empty', () => {
    const repeated = ['acme(?:-([\\d.]+))?\\.js', '((?:\\d+\\.)+\\d+)/acme', '(?:v|ver)=?(\\d+)*', '(?:a|(b))+'];
    const sources = [...repeated, '<[^>]+acme(?:/([\\d.]*))?'];
    const texts = ['/acme.js', '/acme-1.2.3.JS', '/10.2/acme', 'ver=12', 'ababb', '<p x=ACME/2.0>', 'é\u2028acme-1.js'];
    for (const source of sources) {
      for (const each of texts) {
        const captures = capturesOf(new RegExp(source, 'i').exec(each));
        const linear = new LinearRegex(source).captures(each);
        assert.equal(linear?.[0], captures?.[0], `${source} ${each}`);
        // Of a loop JavaScript forgets what an earlier round captured, RE2 does not.
        if (source !== '(?:a|(b))+') assert.deepEqual(linear, captures, `${source} ${each}`);
      }
    }
  });
  it('matches no text that has none of its literals', () => {
    let literal = 0;
    holds(4_000, [expression, fc.array(text, { minLength: 1, maxLength: 8 })], (source, texts) => {
      fc.pre(reasonFor(source) === '');
      const { literals } = new LinearRegex(source);
      if (literals === null) return;
      literal += 1;
      const native = new RegExp(source, 'i');
      for (const each of texts.filter((candidate) => native.test(candidate))) {
        const isIn = literals.some((one) => each.toLowerCase().includes(one));
        assert.ok(isIn, JSON.stringify([source, each, literals]));
      }
    });
    assert.ok(literal > 50, `${literal} expressions had literals`);
  });
  it('has the literals that a reader would choose', () => {
    const literalsOf = (source: string) => new LinearRegex(source).literals?.join(' ');
    const sixteen = [...'abcdefghijklmnop'];
    for (const [source, literals] of Object.entries({
      ...{ 'jquery(?:\\.min)?\\.js': 'jquery.min.js jquery.js', '^https?://[^/]+\\.acme\\.test/': '.acme.test/' },
      ...{ '(?:foobar|bazqux)/\\d+': 'foobar/ bazqux/', '(?:widget)+': 'widget', '(?:shop){2}x*': 'shopshop' },
      ...{ 'acme|acmecorp': 'acme', [`(?:${sixteen.join('|')})cme`]: sixteen.map((first) => `${first}cme`).join(' ') },
    }))
      assert.equal(literalsOf(source), literals, source);
    for (const without of ['\\d+', '(?:abc)?', '.*', 'ab', 'abc|\\d', '[a-z]{8}', 'ééé'])
      assert.equal(literalsOf(without), undefined, without);
  });
  it('is refused, with the reason, where it has no linear-time match or is no expression', () => {
    const refused = Object.entries(casesOf<Record<string, string>>('detect', 'refused expressions'));
    refused.push([`${'('.repeat(400)}a${')'.repeat(400)}`, 'nested'], ['a'.repeat(1_001), 'longer than']);
    for (const [pattern, reason] of refused) assert.match(reasonFor(pattern), new RegExp(reason), pattern);
  });
  it('takes time in proportion to the text where backtracking would not end', () => {
    const hostile = '(a+)+$ (a|a)*$ (a*)*b ^(?:a?){60}a{60}$ (?:a|aa)+$ (.*)(.*)(.*)(.*)x a.*b.*c.*d.*e';
    const startedAt = performance.now();
    for (const source of hostile.split(' ')) new LinearRegex(source).captures(`${'a'.repeat(4_000)}!`);
    // About a second; backtracking would not end.
    assert.ok(performance.now() - startedAt < 20_000);
  });
  it('shows a version by its template, if that makes a complete one', () => {
    const { version = '', confidence, regex } = readPattern('acme-v([\\d.]+)(-pro)?\\;version:\\1\\;confidence:50');
    assert.equal(confidence, 50);
    assert.equal(versionShown(version, regex?.captures('/acme-v1.2.3.js') ?? []), '1.2.3');
    const captures = ['', '1.5', '2', '', 'x'.repeat(2e6)];
    const shown = {
      ...{ '\\1': '1.5', '\\1.\\2': '1.5.2', 'v\\1': '1.5', '\\2': null, '\\3': null, '\\9': null },
      ...{ '\\1?2.0:3.0': '2.0', '\\3?2.0:3.0': '3.0', '\\3?2.0:': null, '\\1?\\2.1:': '2.1' },
      [`1.${'\\4'.repeat(400)}`]: null,
      GA4: null,
    };
    for (const [template, expected] of Object.entries(shown))
      assert.equal(versionShown(template, captures), expected, template);
  });
});

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
  it('is not slowed down by how many values a literal has, or how often it occurs in the text', () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ['aaaa', i] as const);
    const nested = Array.from({ length: 60 }, (_, i) => ['a'.repeat(i + 1), -1 - i] as const);
    const index = new LiteralIndex([...many, ...nested]);
    const startedAt = performance.now();
    assert.equal(index.find('a'.repeat(64_000)).size, many.length + nested.length);
    // Milliseconds; each value at each position would take minutes.
    assert.ok(performance.now() - startedAt < 10_000);
  });
});
it('EngineMemory resets every engine after a total number of steps, and counts from there', () => {
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
it('visibleText is what a reader sees, with single blanks', () => {
  const page =
    '<title>T</title><p>One&nbsp;&amp;\n <b>two</b>three</p><!-- no --><style>p{}</style><SCRIPT>x("<p>no</p>")</SCRIPT>four';
  assert.equal(visibleText(page), 'T One & two three four');
  assert.equal(visibleText('<img alt="no"><template><i>no</i>no</template><noscript>no</noscript>yes'), 'yes');
});
it('visibleText takes pages of any quality', () => {
  const pages = ['', '<', '<a', '<script>', '<p>a<script>b', '</p></p>a', '&#0;&bogus;', '<![CDATA[x]]>', '\ud800'];
  for (const page of pages) assert.equal(typeof visibleText(page), 'string');
});
it('visibleText takes time in proportion to the page', () => {
  const startedAt = performance.now();
  for (const piece of ['<p>', '<script>', '</', '&', '<a b="', '<!--', ' ', '<style><'])
    visibleText(piece.repeat(200_000));
  // About a second; time that grows with the square would take hours.
  assert.ok(performance.now() - startedAt < 20_000);
});

const evil = ['(a+)+$', '(a|aa)+!', '<[^>]{0,500}evil', '(?:e.*v.*i.*l.*){5}!', '\\s+evil\\s+$', '(?:evil[^<]*)+<'];
const searchOf = (count: number, fields: object) => {
  const technology = { cats: [1], website: 'https://x.example', ...fields };
  const content = Object.fromEntries(Array.from({ length: count }, (_, i) => [`E${i}`, technology]));
  return new Search(compileSets(readFingerprints([{ name: 't.json', content }]), []));
};

it('a search of hostile pages with hostile sets stops at its bound, whatever the set and the page', () => {
  const at = { url: 'https://x.example/', isTruncated: false, keepSource: true };
  const { source = '' } = extractPage('<evil aaaa'.repeat(50_000), at);
  const search = searchOf(600, { html: evil, text: evil, scriptSrc: evil });
  search.matches('html', '', source);
  const scripts = Array.from({ length: 200 }, (_, i) => `https://x.example/${i}/${'evil/'.repeat(90)}`);
  search.firstMatches('scriptSrc', scripts);
  assert.ok(search.steps <= 64_000_000, `${search.steps} steps`);
});
it('a search of hostile pages with hostile sets returns the complete value, however long, for a pattern that any value matches', () => {
  const value = 'a'.repeat(10_000);
  const found = searchOf(1, { headers: { x: '' } }).matches('headers', 'x', value);
  assert.equal(found.map((match) => match.value).join(), value);
});
it('a search of hostile pages with hostile sets does work in proportion to the page below it', () => {
  const stepsOf = (length: number) => {
    const search = searchOf(1, { html: evil });
    search.matches('html', '', ' evil'.repeat(length / 5));
    return search.steps;
  };
  assert.ok(stepsOf(500) > 0);
  assert.ok(Math.abs(stepsOf(4_000) / stepsOf(500) - 8) < 0.5);
});
