import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../tests/support/property.ts';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { provider, testEntries, testRulebook } from '../test/rulebook-of.ts';
import { HostTrie } from './host-trie.ts';
import { CatalogError, loadCatalog } from './load-catalog.ts';
import { compileRulebook } from './rulebook.ts';
import { TextTrie } from './text-trie.ts';

function problemsOf(entries: readonly unknown[]): readonly string[] {
  try {
    loadCatalog(entries);
  } catch (error) {
    assert.ok(error instanceof CatalogError);
    return error.problems;
  }
  return [];
}

const mx = (...hosts: string[]) => ({ category: 'email', mx: hosts }) as const;
const entryOf = (id: string, members: object = {}) => ({ ...(provider(id, mx(`${id}.test`)) as object), ...members });
const refuses = (entries: readonly unknown[], ...problems: string[]) => assert.deepEqual(problemsOf(entries), problems);

it('loadCatalog gives providers with their defaults filled in', () => {
  const [first] = loadCatalog(testEntries);
  assert.deepEqual([first?.id, first?.aliases], ['googly', []]);
});
it('loadCatalog lists every problem of the format at once, with entry and path', () => {
  const problems = problemsOf([
    entryOf('a', { website: 'http://a.test' }),
    provider('b', { category: 'nonsense' as 'email', mx: ['b.test'] }),
    provider('c', { category: 'email', mx: ['Upper.test'] }),
    provider('d', { category: 'email', mxx: ['d.test'] }),
    'no entry',
    null,
  ]);
  const expected = [
    ...[/^a website: /, /^b rules\.0\.category: /, /^c rules\.0\.mx\.0: a lower-case host pattern/],
    ...[/^d rules\.0: .*mxx/, /^entry 4 \(entry\): /, /^entry 5 \(entry\): /],
  ];
  for (const [i, pattern] of expected.entries()) assert.match(problems[i] ?? '', pattern);
});
it('loadCatalog refuses an id, a name or an alias that is given twice, whatever its case', () => {
  refuses([entryOf('a'), provider('a', mx('b.test'))], 'a id: occurs twice in the catalog');
  const entries = [entryOf('a'), entryOf('b', { aliases: ['Shared', 'a'] }), entryOf('c', { name: 'shared' })];
  refuses(entries, "b name: 'a' already names a", "c name: 'shared' already names b");
  refuses([entryOf('a', { aliases: ['Alpha', 'alpha'] })], "a aliases: 'alpha' is a duplicate");
});
it('loadCatalog refuses more than 22 labels, those of sites included, and 36 selectors', () => {
  const labels = (count: number, end = '') => Array.from({ length: count }, (_, i) => `_${i}${end}`);
  const entries = (txtAt: string[], dkim: string[]) => [provider('a', { category: 'email', txtAt, dkim })];
  const full = [labels(13), labels(36, '._domainkey')] as const;
  const limits = ['23 labels, at most 22', '37 selectors, at most 36'] as const;
  const problems = limits.map((limit) => `named, dkim, txtAt: ${limit}, because each is a question`);
  refuses(entries(labels(14), labels(37, '._domainkey')), ...problems);
  assert.equal(loadCatalog(entries(...full)).length, 1);
});
it('loadCatalog refuses one pattern for one source in two providers, and says whose it is', () => {
  const header = (name: string) => provider(name, { category: 'cdn', header: [{ name: 'server', value: 'Edgy' }] });
  refuses(
    [provider('a', mx('x.test')), provider('b', mx('x.test')), header('c'), header('d')],
    "b rules.0.mx.0: 'x.test' is already a pattern of a",
    "d rules.0.header.0: 'server: Edgy' is already a pattern of c",
  );
});
it('loadCatalog refuses patterns of two providers that fit one host equally well', () => {
  const ns = (id: string, pattern: string) => provider(id, { category: 'dns', ns: [pattern] });
  const problem = "b rules.0.ns.0: 'nsb*.x.test' and 'ns*a.x.test' of a match the same hosts equally well";
  refuses([ns('a', 'ns*a.x.test'), ns('b', 'nsb*.x.test')], problem);
  const apart = ['ns*a.x.test ns*b.x.test', 'ns*.x.test nsb*.x.test', 'ns*.x.test ns*.y.test'];
  for (const pair of [...apart, '*.dns-*.test ns1.dns-*.test', '*.dns-*.test *.dns-1.test']) {
    const [one = '', other = ''] = pair.split(' ');
    assert.deepEqual(problemsOf([ns('a', one), ns('b', other)]), [], pair);
  }
  refuses([provider('a', { category: 'dns', ns: ['ns*a.x.test', 'nsb*.x.test'] })]);
});
it('loadCatalog refuses product names that are escaped, versioned, in upper case or without a vendor', () => {
  const counts = (field: string, names: string) =>
    new Set(names.split('|').map((name) => problemsOf([entryOf('a', { [field]: [name] })]).length));
  const long = `f5/${'x'.repeat(128)}`;
  for (const [field, accepted, refused] of [
    ['cpe', 'f5:nginx|joomla:joomla!|microsoft:asp.net', 'nginx|F5:nginx|joomla:joomla\\!|f5:nginx:1.0|f5: nginx|'],
    ['packages', 'pkg:npm/next|pkg:composer/drupal/core|pkg:npm/%40nuxt/kit', 'npm/next|pkg:npm|pkg:npm/Next'],
    ['packages', 'pkg:npm/next', 'pkg:npm/next@1.0|pkg:npm//next'],
    ['cna', 'f5/nginx open source|the eclipse foundation/eclipse jetty', `nginx|F5/nginx|/nginx|f5/|${long}`],
  ] as const)
    assert.deepEqual([counts(field, accepted), counts(field, refused)], [new Set([0]), new Set([1])], field);
});
it('loadCatalog refuses a product that two providers name', () => {
  const a = entryOf('a', { cpe: ['f5:nginx'], packages: ['pkg:npm/x'] });
  const c = entryOf('c', { packages: ['pkg:npm/x'], cna: ['f5/nginx'] });
  const problems = ["b products: 'cpe:f5:nginx' already names a", "c products: 'pkg:npm/x' already names a"];
  refuses([a, entryOf('b', { cpe: ['f5:nginx'] }), c], ...problems);
});
it('loadCatalog lets one provider have a pattern in two categories, and two providers one host for different sources', () => {
  const both = provider('a', { category: 'cdn', asn: [64496] }, { category: 'hosting', asn: [64496] });
  refuses([both, provider('b', mx('x.test')), provider('c', { category: 'dns', ns: ['x.test'] })]);
});
describe('the role of a provider in a category', () => {
  const security = (kinds: readonly string[], parts: object = {}) =>
    entryOf('a', { kinds, rules: [{ category: 'email_security', spf: ['a.test'], ...parts }] });
  it('is the one that its group names, or its first kind that names one, or the main one', () => {
    const roleOf = (entry: unknown) => compileRulebook(loadCatalog([entry])).roleOf('email_security', 'a');
    assert.equal(roleOf(security(['dns-host', 'mail-forwarding', 'mail-gateway'])), 'forwarding');
    assert.equal(roleOf(security(['mail-gateway'], { role: 'dmarc_reports' })), 'dmarc_reports');
    assert.deepEqual([roleOf(security(['crm'])), roleOf(security([], { category: 'dns' }))], ['gateway', 'gateway']);
    assert.equal(roleOf(entryOf('b', {})), undefined);
  });
  it('is of the category, is one, and is not shown by a report address if it has one holder', () => {
    assert.match(problemsOf([security([], { role: 'waf' })])[0] ?? '', /^a rules.0: a role of the category$/);
    const two = ['gateway', 'forwarding'].map((role, i) => ({ category: 'email_security', role, mx: [`${i}.test`] }));
    refuses([entryOf('a', { rules: two })], 'a rules.1.role: its role in email_security is already gateway');
    const problem = 'a rules.0.dmarc: a report address does not show the role gateway';
    refuses([security([], { dmarc: ['rua.test'] })], problem);
    refuses([security(['email-authentication'], { dmarc: ['rua.test'] })]);
  });
});
const versionOf = (entries: readonly unknown[]) => compileRulebook(loadCatalog(entries)).version;
const both = mx('a.test', 'b.test');
const entry = provider('a', both) as object;
it('compileRulebook gives a version that comes from the rules alone', () => {
  assert.match(testRulebook.version, /^\d+-[0-9a-f]{16}$/);
  assert.equal(versionOf(testEntries), testRulebook.version);
  assert.equal(versionOf(testEntries.toReversed()), testRulebook.version);
  assert.equal(versionOf([{ ...entry, owner: 'Some Owner', name: 'Other' }]), versionOf([entry]));
});
it('compileRulebook gives another version for another pattern, category, parking mark or version prefix', () => {
  const server = { name: 'server', value: 'A' };
  const changed = [
    ...[mx('a.test', 'c.test'), { ...both, category: 'email_security' as const }, { ...both, parking: true }],
    ...[server, { ...server, version: 'A/' }, { ...server, version: '' }].map((each) => ({ header: [each] })),
    ...['Ab', { start: 'Ab', version: 'Ab ' }].map((each) => ({ html: { generator: [each] } })),
  ].map((rules) => [provider('a', { category: 'cdn', ...rules })]);
  const versions = [[entry], [], [provider('b', both)], ...changed].map(versionOf);
  assert.equal(new Set(versions).size, versions.length);
});
it('compileRulebook names every label that the probe must ask for, selectors first', () =>
  assert.deepEqual(testRulebook.probeLabels, ['s1._domainkey', 'selector1._domainkey', 'autodiscover', 'support']));
it('compileRulebook finds a provider by id, name or alias in any case', () => {
  const rulebook = compileRulebook(loadCatalog([{ ...entry, name: 'Alpha Mail', aliases: ['AM'] }]));
  for (const name of ['a', 'ALPHA mail', 'am']) assert.equal(rulebook.findProvider(name)?.id, 'a', name);
  for (const name of ['', 'constructor', '__proto__', 'alpha'])
    assert.equal(rulebook.findProvider(name), undefined, name);
});

function filled<Trie extends HostTrie<string> | TextTrie<string>>(trie: Trie, texts: readonly string[]): Trie {
  for (const text of texts) trie.add(text, text);
  return trie;
}
const trieOf = (...patterns: string[]) => filled(new HostTrie<string>(), patterns);
const textsOf = (...texts: string[]) => filled(new TextTrie<string>(), texts);

for (const [pattern, fitting, unfitting] of casesOf<[string, string, string][]>('detect', 'patterns of hosts')) {
  it(`HostTrie ${pattern} fits ${fitting}, and not ${unfitting}`, () => {
    const findIn = (hosts: string) => hosts.split(' ').map((host) => trieOf(pattern).find(host).join());
    assert.deepEqual([new Set(findIn(fitting)), new Set(findIn(unfitting))], [new Set([pattern]), new Set([''])]);
  });
}
it('HostTrie prefers a plain label to a glob, a longer glob to a shorter one, and before all the deeper pattern', () => {
  assert.deepEqual(trieOf('ns*.test', 'ns1.test').find('ns1.test'), ['ns1.test']);
  assert.deepEqual(trieOf('n*.test', 'ns-*.test').find('ns-1.test'), ['ns-*.test']);
  assert.deepEqual(trieOf('ns1.test', 'a.ns*.test').find('a.ns1.test'), ['a.ns*.test']);
});
it('HostTrie gives every value of one pattern, and every pattern on request', () => {
  const trie = trieOf('a.test', 'a.test', 'test');
  assert.deepEqual(trie.find('x.a.test'), ['a.test', 'a.test']);
  assert.deepEqual(trie.findEvery('x.a.test'), ['test', 'a.test', 'a.test']);
});
it('HostTrie takes labels that name members of every object', () => {
  assert.deepEqual(trieOf('example.com').find('__proto__.constructor'), []);
  assert.deepEqual(trieOf('__proto__').find('constructor.__proto__'), ['__proto__']);
});
it('HostTrie agrees with a loop over all patterns on whether anything fits', () => {
  const label = fc.stringMatching(/^[ab*]{1,3}$/);
  const pattern = fc.array(label, { minLength: 1, maxLength: 3 }).map((labels) => labels.join('.'));
  const host = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { minLength: 1, maxLength: 4 });
  holds(100, [fc.array(pattern, { maxLength: 8 }), host], (all, labels) => {
    const toRegExp = (each: string) => `(?:^|\\.)${each.replaceAll('.', '\\.').replaceAll('*', '[^.]*')}$`;
    const fits = all.filter((each) => new RegExp(toRegExp(each)).test(labels.join('.')));
    const found = trieOf(...all).find(labels.join('.'));
    assert.equal(found.length > 0, fits.length > 0);
    const depth = (each: string) => each.split('.').length;
    const deepest = Math.max(0, ...fits.map(depth));
    for (const each of found) assert.ok(fits.includes(each) && depth(each) === deepest);
  });
});
it('HostTrie walks a name of the longest length with globs at every label', () => {
  const repeated = (label: string, count: number) => Array.from({ length: count }, () => label).join('.');
  assert.equal(trieOf(repeated('a*', 20), repeated('*a', 20)).find(repeated('a', 127)).length, 1);
});
it('TextTrie finds at any position what a loop over all patterns finds, in any order of insertion', () => {
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
it('TextTrie finds patterns of complete words, each once', () => {
  assert.deepEqual(textsOf('nginx', 'php').findWords('php nginx nginx php'), ['php', 'nginx']);
  assert.deepEqual(textsOf().findWords('anything'), []);
  assert.deepEqual(textsOf('h2o/', 'x-').findWords('xh2o/1 (h2o/2)ax-'), ['h2o/']);
  for (const text of ['koala', 'koaé', 'a koa_x', 'mod_koa', 'xkoa', 'é-koal'])
    assert.deepEqual(textsOf('koa', 'k').findWords(text), [], text);
  for (const text of ['koa', 'koa/1', 'koa2', '(koa)', 'koa™', 'a-koa.js', 'Koa koa'])
    assert.deepEqual(textsOf('koa', 'koa2x').findWords(text), ['koa'], text);
  assert.deepEqual(textsOf('v1').findWords('v12 v1x'), []);
});
it('TextTrie finds in a text the complete words that the text includes', () => {
  const word = fc.stringMatching(/^[ab]{1,3}$/);
  holds(100, [fc.uniqueArray(word, { maxLength: 6 }), fc.stringMatching(/^[ab ]{0,12}$/)], (words, text) => {
    const expected = words.filter((each) => text.split(' ').includes(each));
    const found = textsOf(...words).findWords(text);
    assert.deepEqual(found.toSorted(), expected.toSorted());
  });
});
