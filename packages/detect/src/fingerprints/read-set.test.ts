// Sets as strangers write them: what is wrong is told and costs itself alone, what is hostile costs nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { detect } from '../detect.ts';
import { compileRulebook } from '../rulebook.ts';
import { communityTechnologies } from '../test/community-set.ts';
import { evidenceOf } from '../test/evidence-of.ts';
import { readFingerprints } from './read-set.ts';

const read = (content: unknown, name = 'technologies/t.json') => readFingerprints([{ name, content }]);
const namesOf = ({ technologies }: ReturnType<typeof read>) => technologies.map(({ name }) => name);
const entry = (parts: object) => ({ cats: [1], website: 'https://x.example', ...parts });

describe('readFingerprints', () => {
  it('counts what is there, what a passive scan cannot see, and what it refuses', () => {
    const { report, technologies } = read(communityTechnologies);
    const total = Object.keys(communityTechnologies).length;
    assert.deepEqual([report.technologies, technologies.length], [total, total]);
    assert.equal(report.usable, total - report.unusable.length);
    assert.deepEqual(report.unusable, ['Quill', 'Inkwell', 'Paper', 'Wood', 'Ember DB', 'Backstage']);
    assert.deepEqual(report.unsupported, { css: 1, dom: 1, js: 1, probe: 1, xhr: 1 });
    const [problem, ...others] = report.problems;
    const place = { file: 'technologies/t.json', technology: 'Tally Analytics', field: 'cookies.tally_plan' };
    const text = "it needs a cookie's value, which is never stored";
    assert.deepEqual([problem, others], [{ ...place, pattern: '^gold$', problem: text }, []]);
    assert.deepEqual([report.refusedPatterns, report.badEntries], [1, 0]);
  });
  it('tells of each bad entry and pattern where it stands, and keeps the rest', () => {
    const set = read({
      Good: entry({ headers: { 'x-good': '', 'x-bad': '(a' }, scriptSrc: ['good\\.js', 'a(?=b)', '.*', ''] }),
      ...{ 'No Website': { cats: [1] }, 'Bad Website': entry({ website: 'javascript:alert(1)' }) },
      ...{ 'No Object': 'text', Null: null, List: [] },
      'Bad Parts': entry({ headers: { server: 7 }, cats: 'x' }),
      'Bad Confidence': entry({ headers: { 'x-b': 'a\\;confidence:high' }, implies: ['Good\\;confidence:500'] }),
      Misspelt: entry({ header: { 'x-c': '' } }),
      'Other Records': entry({ dns: { A: ['192\\.0\\.2\\.1'], mx: 'x\\.example' } }),
      ...{ '---': entry({}), ['n'.repeat(65)]: entry({}), 'N\0ul': entry({ html: ['a\0b'] }) },
    });
    const { report, technologies } = set;
    assert.deepEqual(namesOf(set), ['Good', 'Bad Confidence', 'Misspelt', 'Other Records']);
    const kept = technologies.map(({ patterns }) => patterns.map(({ field, key }) => `${field} ${key}`));
    assert.deepEqual([kept[0], kept[3]], [['headers x-good', 'scriptSrc '], ['dns MX']]);
    assert.deepEqual(report.unsupported, { 'dns.A': 1 });
    const reported = report.problems.map(({ technology, field }) => `${technology.slice(0, 14)} ${field}`);
    const expected = [
      ...['Good headers.x-bad', 'Good scriptSrc', 'No Website website', 'Bad Website website', 'No Object ', 'Null '],
      ...['List ', 'Bad Parts headers.server', 'Bad Confidence headers.x-b', 'Bad Confidence implies'],
      ...['Misspelt header', '--- ', 'nnnnnnnnnnnnnn ', 'N\0ul '],
    ];
    assert.deepEqual(new Set(expected).difference(new Set(reported)), new Set());
    assert.equal(report.refusedPatterns, 6);
  });
  it('takes lists of one as older sets write them, and the first of two entries of a name', () => {
    const older = entry({ html: '<i>acme', cats: '7', requiresCategory: 6, headers: { Server: ['x1', 'x2'] } });
    const groups = { name: 'sets/groups.json', content: 'anything' };
    const files = [{ name: 'a.json', content: { A: older } }, { name: 'b.json', content: { A: entry({}) } }, groups];
    const { technologies, report } = readFingerprints(files);
    const found = technologies.map((each) => [each.patterns.length, each.categories, each.requiresCategory]);
    assert.deepEqual(found, [[3, [7], [6]]]);
    assert.match(report.problems[0]?.problem ?? '', /given twice/);
  });
  it('tells of names that are one id, and of those that make none', () => {
    const { technologies, report } = read({ 'Cloud.IQ': entry({}), 'Cloud IQ': entry({}), 百度统计: entry({}) });
    assert.equal(technologies.map(({ slug }) => slug).join(), 'cloud-iq,cloud-iq');
    const [same, none] = report.problems.map(({ technology, problem }) => `${technology} ${problem}`);
    assert.equal(same, 'Cloud IQ is one provider with Cloud.IQ: as an id both are cloud-iq');
    assert.match(none ?? '', /^百度统计 .* without Latin letters/);
  });
  it('refuses an expression that could be looked for in short pages only', () => {
    const large = 'acme-widget[^>]{1,500}';
    const fields = { html: large, text: large, scriptSrc: large, headers: { 'x-a': large } };
    const { technologies, report } = read({ A: entry(fields) });
    assert.deepEqual(technologies[0]?.patterns.map(({ field }) => field).join(), 'headers,scriptSrc');
    assert.match(report.problems[0]?.problem ?? '', /too many for a whole page/);
  });
  it("reads categories by the set's own list, and by the public one without", () => {
    const content = { A: entry({ cats: [500, 52, 7, 1], headers: { 'x-a': '' } }) };
    const own = { 500: { name: 'Live chat' }, 52: { name: 'Wikis' }, 7: { name: 'Ours' } };
    const categories = { name: 'categories.json', content: own };
    const kindsOf = (files: Parameters<typeof readFingerprints>[0]) =>
      compileRulebook([], { sets: readFingerprints(files) }).providers.get('a')?.kinds;
    assert.deepEqual(kindsOf([{ name: 't.json', content }, categories]), ['live-chat', 'wiki', 'cms']);
    assert.deepEqual(kindsOf([{ name: 't.json', content }]), ['live-chat', 'cms']);
    assert.equal(readFingerprints([{ ...categories, content: [1] }]).report.badEntries, 1);
  });
  it('refuses what is no set', () => {
    for (const content of [null, 7, 'text', [], [{}]]) assert.equal(read(content).report.technologies, 0);
    assert.equal(read(null).report.badEntries, 1);
  });
  it('is not confused by names that JavaScript objects have of their own', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    const entries = names.map((name, i) => {
      const patterns = `"headers": {"${name}": "", "__proto__": "x"}, "implies": "__proto__"`;
      return `"${name}": {"cats": [1], "website": "https://${i}.example", ${patterns}, "polluted": 1}`;
    });
    const hostile = JSON.parse(`{${entries.join()}}`);
    const rulebook = compileRulebook([], { sets: read(hostile) });
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    const headers = JSON.parse('{"constructor": "1", "tostring": "", "__proto__": "y"}');
    const { services } = detect(evidenceOf({ http: { headers } }), rulebook);
    const providers = services.map(({ provider }) => provider);
    assert.ok(providers.includes('constructor') && providers.includes('tostring'), providers.join());
    assert.equal(rulebook.findProvider('valueOf'), undefined);
  });
  it('bounds what a set may hold', () => {
    const many = (count: number, entryOf: (i: number) => unknown) =>
      read(Object.fromEntries(Array.from({ length: count }, (_, i) => [`T${i}`, entryOf(i)])));
    const { report, technologies } = many(100_010, () => entry({}));
    assert.deepEqual([technologies.length, report.badEntries], [100_000, 1]);
    const wide = read({ A: entry({ scriptSrc: Array.from({ length: 501 }, (_, i) => `lib-${i}\\.js`) }) });
    assert.equal(wide.technologies.length, 0);
    const vague = many(300, (i) => entry({ html: [`\\d${'x?'.repeat(i + 1)}`] }));
    assert.deepEqual([vague.report.withoutLiteral, vague.report.refusedPatterns], [200, 100]);
    const noisy = many(3_000, () => 'bad');
    assert.deepEqual([noisy.report.badEntries, noisy.report.problems.length], [3_000, 1_000]);
  });
  it('survives values that are nested deeper than the stack', () => {
    const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    const bad = entry({ headers: deep, js: deep });
    const set = read({ A: bad, B: entry({ js: deep, headers: { 'x-b': '' } }), C: deep });
    assert.deepEqual(namesOf(set), ['B']);
    assert.equal(set.report.technologies, 3);
  });
});
