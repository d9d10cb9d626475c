// Sets as strangers write them: what is wrong is told and costs itself alone, what is hostile costs nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { extractPage } from '../page.ts';
import { compileRulebook } from '../rulebook.ts';
import { communityTechnologies } from '../test/community-set.ts';
import { evidenceOf } from '../test/evidence-of.ts';
import { compileSets } from './compile-sets.ts';
import { readFingerprints } from './read-set.ts';
import { Search } from './search.ts';

const read = (content: unknown, name = 'technologies/t.json') => readFingerprints([{ name, content }]);
const entry = (parts: object) => ({ cats: [1], website: 'https://x.example', ...parts });

describe('readFingerprints', () => {
  it('counts what is there, what a passive scan cannot see, and what it refuses', () => {
    const { report, technologies } = read(communityTechnologies);
    const total = Object.keys(communityTechnologies).length;
    assert.deepEqual([report.technologies, technologies.length], [total, total]);
    assert.equal(report.usable, total - report.unusable.length);
    assert.deepEqual(report.unusable, ['Quill', 'Inkwell', 'Paper', 'Wood', 'Ember DB', 'Backstage']);
    assert.deepEqual(report.unsupported, { css: 1, dom: 1, js: 1, probe: 1, xhr: 1 });
    assert.deepEqual(report.problems, [
      {
        file: 'technologies/t.json',
        technology: 'Tally Analytics',
        field: 'cookies.tally_plan',
        pattern: '^gold$',
        problem: "it needs a cookie's value, which is never stored",
      },
    ]);
    assert.deepEqual([report.refusedPatterns, report.badEntries], [1, 0]);
  });

  it('tells of each bad entry and pattern where it stands, and keeps the rest', () => {
    const { report, technologies } = read({
      Good: entry({ headers: { 'x-good': '', 'x-bad': '(a' }, scriptSrc: ['good\\.js', 'a(?=b)', '.*', ''] }),
      'No Website': { cats: [1] },
      'Bad Website': entry({ website: 'javascript:alert(1)' }),
      'No Object': 'text',
      Null: null,
      List: [],
      'Bad Parts': entry({ headers: { server: 7 }, cats: 'x' }),
      'Bad Confidence': entry({ headers: { 'x-b': 'a\\;confidence:high' }, implies: ['Good\\;confidence:500'] }),
      Misspelt: entry({ header: { 'x-c': '' } }),
      'Other Records': entry({ dns: { A: ['192\\.0\\.2\\.1'], mx: 'x\\.example' } }),
      '---': entry({}),
      ['n'.repeat(65)]: entry({}),
      'N\0ul': entry({ html: ['a\0b'] }),
    });
    assert.deepEqual(
      technologies.map(({ name }) => name),
      ['Good', 'Bad Confidence', 'Misspelt', 'Other Records'],
    );
    assert.deepEqual(
      technologies[0]?.patterns.map(({ field, key }) => `${field} ${key}`),
      ['headers x-good', 'scriptSrc '],
    );
    assert.deepEqual(
      technologies[3]?.patterns.map(({ key }) => key),
      ['MX'],
    );
    assert.deepEqual(report.unsupported, { 'dns.A': 1 });
    const told = report.problems.map(({ technology, field }) => `${technology.slice(0, 14)} ${field}`);
    for (const each of [
      'Good headers.x-bad',
      'Good scriptSrc',
      'No Website website',
      'Bad Website website',
      'No Object ',
      'Null ',
      'List ',
      'Bad Parts headers.server',
      'Bad Confidence headers.x-b',
      'Bad Confidence implies',
      'Misspelt header',
      '--- ',
      'nnnnnnnnnnnnnn ',
      'N\0ul ',
    ]) {
      assert.ok(told.includes(each), `${each} is not in ${told.join(' | ')}`);
    }
    assert.equal(report.refusedPatterns, 6);
  });

  it('takes lists of one as older sets write them, and the first of two entries of a name', () => {
    const { technologies, report } = readFingerprints([
      {
        name: 'a.json',
        content: { A: entry({ html: '<i>acme', cats: '7', requiresCategory: 6, headers: { Server: ['x1', 'x2'] } }) },
      },
      { name: 'b.json', content: { A: entry({}) } },
      { name: 'sets/groups.json', content: 'anything' },
    ]);
    const [first] = technologies;
    assert.deepEqual(
      [technologies.length, first?.patterns.length, first?.categories, first?.requiresCategory],
      [1, 3, [7], [6]],
    );
    assert.match(report.problems[0]?.problem ?? '', /given twice/);
  });

  it('tells of names that are one id, and of those that make none', () => {
    const { technologies, report } = read({ 'Cloud.IQ': entry({}), 'Cloud IQ': entry({}), 百度统计: entry({}) });
    assert.deepEqual(
      technologies.map(({ slug }) => slug),
      ['cloud-iq', 'cloud-iq'],
    );
    const [same, none] = report.problems.map(({ technology, problem }) => `${technology} ${problem}`);
    assert.equal(same, 'Cloud IQ is one provider with Cloud.IQ: as an id both are cloud-iq');
    assert.match(none ?? '', /^百度统计 .* without Latin letters/);
  });

  it('refuses an expression that could be looked for in short pages only', () => {
    const large = 'acme-widget[^>]{1,500}';
    const { technologies, report } = read({
      A: entry({ html: large, text: large, scriptSrc: large, headers: { 'x-a': large } }),
    });
    assert.deepEqual(
      technologies[0]?.patterns.map(({ field }) => field),
      ['headers', 'scriptSrc'],
    );
    assert.match(report.problems[0]?.problem ?? '', /too many for a whole page/);
  });

  it("reads categories by the set's own list, and by the public one without", () => {
    const categories = {
      name: 'categories.json',
      content: { 500: { name: 'Live chat' }, 52: { name: 'Wikis' }, 7: { name: 'Ours' } },
    };
    const content = { A: entry({ cats: [500, 52, 7, 1], headers: { 'x-a': '' } }) };
    const kindsOf = (files: Parameters<typeof readFingerprints>[0]) =>
      compileRulebook([], { sets: readFingerprints(files) }).providers.get('a')?.kinds;
    assert.deepEqual(kindsOf([{ name: 't.json', content }, categories]), ['live-chat', 'wiki', 'cms']);
    assert.deepEqual(kindsOf([{ name: 't.json', content }]), ['live-chat', 'cms']);
    const broken = readFingerprints([
      { name: 'categories.json', content: [1] },
      { name: 't.json', content },
    ]);
    assert.equal(broken.report.badEntries, 1);
  });

  it('refuses what is no set', () => {
    for (const content of [null, 7, 'text', [], [{}]]) assert.equal(read(content).report.technologies, 0);
    assert.equal(read(null).report.badEntries, 1);
  });

  it('is not confused by names that JavaScript objects have of their own', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const hostile = JSON.parse(
      `{${names.map((name) => `"${name}": {"cats": [1], "website": "https://${names.indexOf(name)}.example", "headers": {"${name}": "", "__proto__": "x"}, "implies": "__proto__", "polluted": 1}`).join()}}`,
    );
    const rulebook = compileRulebook([], { sets: read(hostile) });
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    const headers = JSON.parse('{"constructor": "1", "tostring": "", "__proto__": "y"}');
    const { services } = detect(evidenceOf({ http: { headers } }), rulebook);
    const providers = services.map(({ provider }) => provider);
    assert.ok(providers.includes('constructor') && providers.includes('tostring'), providers.join());
    assert.equal(rulebook.findProvider('valueOf'), undefined);
  });

  it('bounds what a set may hold', () => {
    const many = Object.fromEntries(Array.from({ length: 100_010 }, (_, i) => [`T${i}`, entry({})]));
    const { report, technologies } = read(many);
    assert.deepEqual([technologies.length, report.badEntries], [100_000, 1]);
    const wide = read({ A: entry({ scriptSrc: Array.from({ length: 501 }, (_, i) => `lib-${i}\\.js`) }) });
    assert.equal(wide.technologies.length, 0);
    const vague = read(
      Object.fromEntries(
        Array.from({ length: 300 }, (_, i) => [`V${i}`, entry({ html: [`\\d${'x?'.repeat(i + 1)}`] })]),
      ),
    );
    assert.deepEqual([vague.report.withoutLiteral, vague.report.refusedPatterns], [200, 100]);
    const noisy = read(Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`N${i}`, 'bad'])));
    assert.deepEqual([noisy.report.badEntries, noisy.report.problems.length], [3_000, 1_000]);
  });

  it('survives values that are nested deeper than the stack', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const { report, technologies } = read({
      A: entry({ headers: deep, js: deep }),
      B: entry({ js: deep, headers: { 'x-b': '' } }),
      C: deep,
    });
    assert.deepEqual(
      technologies.map(({ name }) => name),
      ['B'],
    );
    assert.equal(report.technologies, 3);
  });
});

describe('a search of hostile pages with hostile sets', () => {
  const evil = ['(a+)+$', '(a|aa)+!', '<[^>]{0,500}evil', '(?:e.*v.*i.*l.*){5}!', '\\s+evil\\s+$', '(?:evil[^<]*)+<'];
  const set = read(
    Object.fromEntries(
      Array.from({ length: 600 }, (_, i) => [`E${i}`, entry({ html: evil, text: evil, scriptSrc: evil })]),
    ),
  );
  const sets = compileSets(set, []);

  it('stops at its bound, whatever the set and the page', () => {
    const page = extractPage('<evil aaaa'.repeat(50_000), {
      url: 'https://x.example/',
      isTruncated: false,
      keepSource: true,
    });
    const search = new Search(sets);
    const startedAt = performance.now();
    search.matches('html', '', page.source ?? '');
    search.firstMatches(
      'scriptSrc',
      Array.from({ length: 200 }, (_, i) => `https://x.example/${i}/${'evil/'.repeat(90)}`),
    );
    assert.ok(search.steps <= 64_000_000, `${search.steps} steps`);
    assert.ok(performance.now() - startedAt < 8_000);
  });

  it('does work in proportion to the page below it', () => {
    const stepsOf = (length: number) => {
      const search = new Search(compileSets(read({ A: entry({ html: evil }) }), []));
      search.matches('html', '', ' evil'.repeat(length / 5));
      return search.steps;
    };
    assert.ok(stepsOf(500) > 0);
    assert.ok(Math.abs(stepsOf(4_000) / stepsOf(500) - 8) < 0.5);
  });
});
