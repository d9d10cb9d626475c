// The expressions of community sets: the same meaning as in JavaScript, in linear time, and never without their literals.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { LinearRegex, readPattern, versionShown } from './pattern.ts';

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
    for (const [source, literals] of Object.entries({
      ...{ 'jquery(?:\\.min)?\\.js': 'jquery.min.js jquery.js', '^https?://[^/]+\\.acme\\.test/': '.acme.test/' },
      ...{ '(?:foobar|bazqux)/\\d+': 'foobar/ bazqux/', '(?:widget)+': 'widget', '(?:shop){2}x*': 'shopshop' },
      'acme|acmecorp': 'acme',
    }))
      assert.equal(literalsOf(source), literals, source);
    for (const without of ['\\d+', '(?:abc)?', '.*', 'ab', 'abc|\\d', '[a-z]{8}', 'ééé'])
      assert.equal(literalsOf(without), undefined, without);
  });
  it('is refused, with the reason, where it has no linear-time match or is no expression', () => {
    const refused = {
      ...{ 'a(?=b)': /look-around/, 'a(?!b)': /look-around/, '(?<=a)b': /look-around/, '(?<!a)b': /look-around/ },
      ...{ '(?<name>a)': /not supported/, '(?i)a': /not supported/, '\\p{L}': /not supported/ },
      ...{ '(a': /not closed/, 'a)': /not opened/, '[a': /too early/, 'a\\': /too early/ },
      ...{ '*a': /nothing before/, 'a**': /repeated/, '^*': /assertion is repeated/, '\\x4': /cut short/ },
      ...{ 'a{3,1}': /out of order/, '[z-a]': /out of order/, 'a{9999}': /counts beyond/, '(a)\\1': /back-reference/ },
      ...{ [`${'('.repeat(400)}a${')'.repeat(400)}`]: /nested/, ['a'.repeat(1_001)]: /longer than/, 'a\0b': /NUL/ },
      ...{ 'a\\;confidence:many': /confidence/, 'a\\;confidence:101': /confidence/ },
      '(?:(?:(?:a{0,100}){0,100}){0,100}){0,100}': /steps a character/,
    };
    for (const [pattern, reason] of Object.entries(refused)) assert.match(reasonFor(pattern), reason, pattern);
  });
  it('takes time in proportion to the text where backtracking would take for ever', () => {
    const hostile = '(a+)+$ (a|a)*$ (a*)*b ^(?:a?){60}a{60}$ (?:a|aa)+$ (.*)(.*)(.*)(.*)x a.*b.*c.*d.*e';
    const startedAt = performance.now();
    for (const source of hostile.split(' ')) new LinearRegex(source).captures(`${'a'.repeat(4_000)}!`);
    // About a second; backtracking would not end.
    assert.ok(performance.now() - startedAt < 20_000);
  });
  it('shows a version by its template, where that makes a whole one', () => {
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
