import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CatalogError, loadCatalog } from './load-catalog.ts';
import { provider, testEntries } from './test/rulebook-of.ts';

function problemsOf(entries: readonly unknown[]): readonly string[] {
  try {
    loadCatalog(entries);
  } catch (error) {
    assert.ok(error instanceof CatalogError);
    return error.problems;
  }
  return [];
}

/** An entry with other members beside or instead of those of `provider`. */
const entryOf = (id: string, members: object = {}) => ({ ...(provider(id, mx(`${id}.test`)) as object), ...members });
const refuses = (entries: readonly unknown[], ...problems: string[]) => assert.deepEqual(problemsOf(entries), problems);
const mx = (host: string) => ({ category: 'email', mx: [host] }) as const;

describe('loadCatalog', () => {
  it('gives providers with their defaults filled in', () => {
    const [first] = loadCatalog(testEntries);
    assert.deepEqual([first?.id, first?.aliases], ['googly', []]);
  });

  it('lists every problem of the format at once, with entry and path', () => {
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

  it('refuses an id that is in the catalog twice', () =>
    refuses([entryOf('a'), provider('a', mx('b.test'))], 'a id: stands in the catalog twice'));

  it('refuses a name or alias that names two providers, whatever its case', () => {
    const entries = [entryOf('a'), entryOf('b', { aliases: ['Shared', 'a'] }), entryOf('c', { name: 'shared' })];
    refuses(entries, "b name: 'a' already names a", "c name: 'shared' already names b");
  });
  it('refuses an alias that is given twice', () =>
    refuses([entryOf('a', { aliases: ['Alpha', 'alpha'] })], "a aliases: 'alpha' is given twice"));

  it('refuses one pattern for one source in two providers, and says whose it is', () => {
    const header = (name: string) => provider(name, { category: 'cdn', header: [{ name: 'server', value: 'Edgy' }] });
    refuses(
      [provider('a', mx('x.test')), provider('b', mx('x.test')), header('c'), header('d')],
      "b rules.0.mx.0: 'x.test' is already a pattern of a",
      "d rules.0.header.0: 'server: Edgy' is already a pattern of c",
    );
  });

  it('refuses patterns of two providers that fit one host equally well', () => {
    const ns = (id: string, pattern: string) => provider(id, { category: 'dns', ns: [pattern] });
    assert.deepEqual(problemsOf([ns('a', 'ns*a.x.test'), ns('b', 'nsb*.x.test')]), [
      "b rules.0.ns.0: 'nsb*.x.test' and 'ns*a.x.test' of a fit the same hosts equally well",
    ]);
    const apart = ['ns*a.x.test ns*b.x.test', 'ns*.x.test nsb*.x.test', 'ns*.x.test ns*.y.test'];
    for (const pair of [...apart, '*.dns-*.test ns1.dns-*.test', '*.dns-*.test *.dns-1.test']) {
      const [one = '', other = ''] = pair.split(' ');
      assert.deepEqual(problemsOf([ns('a', one), ns('b', other)]), [], pair);
    }
    assert.deepEqual(problemsOf([provider('a', { category: 'dns', ns: ['ns*a.x.test', 'nsb*.x.test'] })]), []);
  });

  it('refuses product names that are escaped, versioned, in upper case or without a vendor', () => {
    const problemsIn = (field: string, names: string[]) =>
      names.map((name) => problemsOf([entryOf('a', { [field]: [name] })]).length);
    for (const [field, accepted, refused] of [
      ['cpe', 'f5:nginx|joomla:joomla!|microsoft:asp.net', 'nginx|F5:nginx|joomla:joomla\\!|f5:nginx:1.0|f5: nginx|'],
      ['packages', 'pkg:npm/next|pkg:composer/drupal/core|pkg:npm/%40nuxt/kit', 'npm/next|pkg:npm|pkg:npm/Next'],
      ['packages', 'pkg:npm/next', 'pkg:npm/next@1.0|pkg:npm//next'],
      [
        'cna',
        'f5/nginx open source|the eclipse foundation/eclipse jetty',
        `nginx|F5/nginx|/nginx|f5/|f5/${'x'.repeat(128)}`,
      ],
    ] as const) {
      assert.deepEqual(
        problemsIn(field, accepted.split('|')),
        accepted.split('|').map(() => 0),
        accepted,
      );
      assert.deepEqual(
        problemsIn(field, refused.split('|')),
        refused.split('|').map(() => 1),
        refused,
      );
    }
  });

  it('refuses a product that two providers name', () => {
    const a = entryOf('a', { cpe: ['f5:nginx'], packages: ['pkg:npm/x'] });
    const c = entryOf('c', { packages: ['pkg:npm/x'], cna: ['f5/nginx'] });
    const problems = ["b products: 'cpe:f5:nginx' already names a", "c products: 'pkg:npm/x' already names a"];
    refuses([a, entryOf('b', { cpe: ['f5:nginx'] }), c], ...problems);
  });
  it('lets one provider have a pattern in two categories, and two providers one host for different sources', () => {
    const both = provider('a', { category: 'cdn', asn: [64496] }, { category: 'hosting', asn: [64496] });
    refuses([both, provider('b', mx('x.test')), provider('c', { category: 'dns', ns: ['x.test'] })]);
  });
});
