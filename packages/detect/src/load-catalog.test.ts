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

const mx = (host: string) => ({ category: 'email', mx: [host] }) as const;

describe('loadCatalog', () => {
  it('gives providers with their defaults filled in', () => {
    const [first] = loadCatalog(testEntries);
    assert.equal(first?.id, 'googly');
    assert.deepEqual(first?.aliases, []);
  });

  it('lists every problem of the format at once, with entry and path', () => {
    const problems = problemsOf([
      { ...(provider('a', mx('a.test')) as object), website: 'http://a.test' },
      provider('b', { category: 'nonsense' as 'email', mx: ['b.test'] }),
      provider('c', { category: 'email', mx: ['Upper.test'] }),
      provider('d', { category: 'email', mxx: ['d.test'] }),
      'no entry',
      null,
    ]);
    assert.match(problems[0] ?? '', /^a website: /);
    assert.match(problems[1] ?? '', /^b rules\.0\.category: /);
    assert.match(problems[2] ?? '', /^c rules\.0\.mx\.0: a lower-case host pattern/);
    assert.match(problems[3] ?? '', /^d rules\.0: .*mxx/);
    assert.match(problems[4] ?? '', /^entry 4 \(entry\): /);
    assert.match(problems[5] ?? '', /^entry 5 \(entry\): /);
  });

  it('refuses an id that stands twice', () => {
    assert.deepEqual(problemsOf([provider('a', mx('a.test')), provider('a', mx('b.test'))]), [
      'a id: stands in the catalog twice',
    ]);
  });

  it('refuses a name or alias that names two providers, whatever its case', () => {
    const named = { ...(provider('b', mx('b.test')) as object), aliases: ['Shared', 'a'] };
    const other = { ...(provider('c', mx('c.test')) as object), name: 'shared' };
    assert.deepEqual(problemsOf([provider('a', mx('a.test')), named, other]), [
      "b name: 'a' already names a",
      "c name: 'shared' already names b",
    ]);
  });

  it('refuses an alias that is given twice', () => {
    const entry = { ...(provider('a', mx('a.test')) as object), aliases: ['Alpha', 'alpha'] };
    assert.deepEqual(problemsOf([entry]), ["a aliases: 'alpha' is given twice"]);
  });

  it('refuses one pattern for one source in two providers, and says whose it is', () => {
    const header = (name: string) => provider(name, { category: 'cdn', header: [{ name: 'server', value: 'Edgy' }] });
    assert.deepEqual(problemsOf([provider('a', mx('x.test')), provider('b', mx('x.test')), header('c'), header('d')]), [
      "b rules.0.mx.0: 'x.test' is already a pattern of a",
      "d rules.0.header.0: 'server: Edgy' is already a pattern of c",
    ]);
  });

  it('refuses patterns of two providers that fit one host equally well', () => {
    const ns = (id: string, pattern: string) => provider(id, { category: 'dns', ns: [pattern] });
    assert.deepEqual(problemsOf([ns('a', 'ns*a.x.test'), ns('b', 'nsb*.x.test')]), [
      "b rules.0.ns.0: 'nsb*.x.test' and 'ns*a.x.test' of a fit the same hosts equally well",
    ]);
    for (const [one, other] of [
      ['ns*a.x.test', 'ns*b.x.test'],
      ['ns*.x.test', 'nsb*.x.test'],
      ['ns*.x.test', 'ns*.y.test'],
      ['*.dns-*.test', 'ns1.dns-*.test'],
      ['*.dns-*.test', '*.dns-1.test'],
    ] as const) {
      assert.deepEqual(problemsOf([ns('a', one), ns('b', other)]), [], `${one} ${other}`);
    }
    assert.deepEqual(problemsOf([provider('a', { category: 'dns', ns: ['ns*a.x.test', 'nsb*.x.test'] })]), []);
  });

  it('refuses product names that are escaped, versioned, in upper case or without a vendor', () => {
    const named = (names: object) => problemsOf([{ ...(provider('a', mx('a.test')) as object), ...names }]).length;
    for (const cpe of ['f5:nginx', 'joomla:joomla!', 'microsoft:asp.net']) assert.equal(named({ cpe: [cpe] }), 0, cpe);
    for (const cpe of ['nginx', 'F5:nginx', 'joomla:joomla\\!', 'f5:nginx:1.0', 'f5: nginx', ''])
      assert.equal(named({ cpe: [cpe] }), 1, cpe);
    for (const packages of ['pkg:npm/next', 'pkg:composer/drupal/core', 'pkg:npm/%40nuxt/kit'])
      assert.equal(named({ packages: [packages] }), 0, packages);
    for (const packages of ['npm/next', 'pkg:npm', 'pkg:npm/Next', 'pkg:npm/next@1.0', 'pkg:npm//next'])
      assert.equal(named({ packages: [packages] }), 1, packages);
    for (const cna of ['f5/nginx open source', 'the eclipse foundation/eclipse jetty'])
      assert.equal(named({ cna: [cna] }), 0, cna);
    for (const cna of ['nginx', 'F5/nginx', '/nginx', 'f5/', `f5/${'x'.repeat(128)}`])
      assert.equal(named({ cna: [cna] }), 1, cna);
  });

  it('refuses a product that two providers name', () => {
    const named = (id: string, names: object) => ({ ...(provider(id, mx(`${id}.test`)) as object), ...names });
    const entries = [named('a', { cpe: ['f5:nginx'], packages: ['pkg:npm/x'] }), named('b', { cpe: ['f5:nginx'] })];
    assert.deepEqual(problemsOf([...entries, named('c', { packages: ['pkg:npm/x'], cna: ['f5/nginx'] })]), [
      "b products: 'cpe:f5:nginx' already names a",
      "c products: 'pkg:npm/x' already names a",
    ]);
  });

  it('lets one provider have a pattern in two categories, and two providers one host for different sources', () => {
    const both = provider('a', { category: 'cdn', asn: [64496] }, { category: 'hosting', asn: [64496] });
    assert.deepEqual(
      problemsOf([both, provider('b', mx('x.test')), provider('c', { category: 'dns', ns: ['x.test'] })]),
      [],
    );
  });
});
