// Sets by untrusted authors: a problem is reported and affects only its own entry. And sets next to the catalog's own
// rules: which technologies the catalog knows, what a set adds, and that it removes nothing.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import { detect } from '../../detect.ts';
import { loadCatalog } from '../../rulebook/load-catalog.ts';
import { compileRulebook } from '../../rulebook/rulebook.ts';
import { communityTechnologies, rulebookWith, testCatalog } from '../../test/community-set.ts';
import { aliasTo, type EvidenceParts, evidenceOf } from '../../test/evidence-of.ts';
import { rows } from '../../test/rows.ts';
import { testEntries } from '../../test/rulebook-of.ts';
import { readFingerprints } from './read-set.ts';

const read = (content: unknown, name = 'technologies/t.json') => readFingerprints([{ name, content }]);
const namesOf = ({ technologies }: ReturnType<typeof read>) => technologies.map(({ name }) => name);
const entry = (parts: object) => ({ cats: [1], website: 'https://x.example', ...parts });

it('readFingerprints counts what is there, what a passive scan cannot see, and what it refuses', () => {
  const { report, technologies } = read(communityTechnologies);
  const total = Object.keys(communityTechnologies).length;
  assert.deepEqual([report.technologies, technologies.length, report.usable], [total, total, total - 6]);
  assert.deepEqual(report.unusable, ['Quill', 'Inkwell', 'Paper', 'Wood', 'Ember DB', 'Backstage']);
  assert.deepEqual(report.unsupported, { css: 1, dom: 1, js: 1, probe: 1, xhr: 1 });
  const location = { file: 'technologies/t.json', technology: 'Tally Analytics', field: 'cookies.tally_plan' };
  const text = "it needs a cookie's value, which is never stored";
  assert.deepEqual(report.problems, [{ ...location, pattern: '^gold$', problem: text }]);
  assert.deepEqual([report.refusedPatterns, report.badEntries], [1, 0]);
});
it('readFingerprints reports each invalid entry and pattern with its location, and keeps the rest', () => {
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
it('readFingerprints takes lists of one as older sets write them, and the first of two entries of a name', () => {
  const older = entry({ html: '<i>acme', cats: '7', requiresCategory: 6, headers: { Server: ['x1', 'x2'] } });
  const groups = { name: 'sets/groups.json', content: 'anything' };
  const files = [{ name: 'a.json', content: { A: older } }, { name: 'b.json', content: { A: entry({}) } }, groups];
  const { technologies, report } = readFingerprints(files);
  const found = technologies.map((each) => [each.patterns.length, each.categories, each.requiresCategory]);
  assert.deepEqual(found, [[3, [7], [6]]]);
  assert.match(report.problems[0]?.problem ?? '', /duplicate/);
});
it('readFingerprints reports names with the same id, and names without an id', () => {
  const { technologies, report } = read({ 'Cloud.IQ': entry({}), 'Cloud IQ': entry({}), 百度统计: entry({}) });
  assert.equal(technologies.map(({ slug }) => slug).join(), 'cloud-iq,cloud-iq');
  const [same, none] = report.problems.map(({ technology, problem }) => `${technology} ${problem}`);
  assert.equal(same, 'Cloud IQ shares the id cloud-iq with Cloud.IQ');
  assert.match(none ?? '', /^百度统计 .* without Latin letters/);
});
it('readFingerprints refuses an expression that could run on short pages only', () => {
  const large = 'acme-widget[^>]{1,500}';
  const fields = { html: large, text: large, scriptSrc: large, headers: { 'x-a': large } };
  const { technologies, report } = read({ A: entry(fields) });
  assert.deepEqual(technologies[0]?.patterns.map(({ field }) => field).join(), 'headers,scriptSrc');
  assert.match(report.problems[0]?.problem ?? '', /too many for a complete page/);
});
it("readFingerprints reads categories by the set's own list, and by the public one without", () => {
  const content = { A: entry({ cats: [500, 52, 7, 1], headers: { 'x-a': '' } }) };
  const own = { 500: { name: 'Live chat' }, 52: { name: 'Wikis' }, 7: { name: 'Ours' } };
  const categories = { name: 'categories.json', content: own };
  const kindsOf = (files: Parameters<typeof readFingerprints>[0]) =>
    compileRulebook([], { sets: readFingerprints(files) }).providers.get('a')?.kinds;
  assert.deepEqual(kindsOf([{ name: 't.json', content }, categories]), ['live-chat', 'wiki', 'cms']);
  assert.deepEqual(kindsOf([{ name: 't.json', content }]), ['live-chat', 'cms']);
  assert.equal(readFingerprints([{ ...categories, content: [1] }]).report.badEntries, 1);
});
it('readFingerprints refuses documents that are not sets', () => {
  for (const content of [null, 7, 'text', [], [{}]]) assert.equal(read(content).report.technologies, 0);
  assert.equal(read(null).report.badEntries, 1);
});
it('readFingerprints is not confused by names that JavaScript objects have of their own', () => {
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
it('readFingerprints bounds what a set may hold', () => {
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
it('readFingerprints survives values that are nested deeper than the stack', () => {
  const deep = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
  const bad = entry({ headers: deep, js: deep });
  const set = read({ A: bad, B: entry({ js: deep, headers: { 'x-b': '' } }), C: deep });
  assert.deepEqual(namesOf(set), ['B']);
  assert.equal(set.report.technologies, 3);
});

const at = (host: string) => ({ website: `https://${host.includes('.') ? host : `${host}.example`}` });
const dns = (host: string) => [{ category: 'dns', ns: [host] }];
const catalog = loadCatalog([
  ...testEntries,
  {
    ...{ id: 'phoenix', name: 'Phoenix Framework', aliases: ['Firebird'], kinds: ['web-framework'] },
    ...{ website: 'https://phoenix-framework.example', cpe: ['phoenix:framework'] },
    rules: [{ category: 'web_platform', cookie: ['_phoenix'] }],
  },
  { ...{ id: 'quick', name: 'Quick', owner: 'Sprint', kinds: ['cdn'] }, ...at('quick'), rules: dns('quick.test') },
  { ...{ id: 'seal-dns', name: 'Seal Managed DNS', kinds: ['dns-host'] }, ...at('seal'), rules: dns('seal.test') },
]);
const HEADERS = { headers: { 'x-some': '' } };
const VERSIONED = { headers: { 'x-some': '([\\d.]+)\\;version:\\1' } };

const bookOf = (technologies: unknown) =>
  compileRulebook(catalog, { sets: readFingerprints([{ name: 't.json', content: technologies }]) });
/** `provider by`, or the id of the new provider. */
function takenFor(name: string, entry: object, rest: object = {}): string {
  const { sets } = bookOf({ [name]: { cats: [5], ...HEADERS, ...entry }, ...rest });
  const merge = sets?.merges.find(({ technology }) => technology === name);
  return merge ? `${merge.provider} ${merge.by}` : (sets?.technologies[0]?.provider.id ?? '');
}

describe('a technology of a set is a provider of the catalog', () => {
  const taken = (by: string, name: string, entry: object) => assert.equal(takenFor(name, entry), by);
  const framework = 'https://phoenix-framework.example/x';
  rows(taken, [
    ['by its CPE product', 'phoenix product', 'Anything', { ...at('a'), cpe: 'cpe:2.3:a:phoenix:framework:*' }],
    ['by name', 'phoenix name', 'Phoenix  framework', at('elsewhere')],
    ['by name and address, with versions', 'phoenix name', 'Firebird', { website: framework, ...VERSIONED }],
    ['by a name of one word and its domain', 'quick name', 'QUICK', { website: 'https://docs.quick.example/' }],
    ['by a name of one word and its kind', 'quick name', 'Quick', { ...at('other'), cats: [31] }],
    ['by its address and a like name', 'quick website', 'Sprint Quick.js', { website: 'https://www.quick.example/' }],
  ]);
});

describe('a technology of a set is a provider of its own', () => {
  const own = (id: string, name: string, entry: object) => assert.equal(takenFor(name, entry), id);
  const code = { website: 'https://code.example/phoenix', cats: [18] };
  rows(own, [
    ['whose name is no more than the id of another', 'phoenix-community', 'Phoenix', code],
    ['of another kind, with a name of one word', 'quick-community', 'Quick', at('quick.invalid')],
    ['with a namesake that has advisories', 'firebird', 'Firebird', { ...at('firebird'), cats: [18] }],
    ['with versions, and such a namesake', 'phoenix-framework', 'Phoenix Framework', { ...at('a'), ...VERSIONED }],
    ['of the same maker under another name', 'quick-consent', 'Quick Consent', at('quick')],
    ['that is the maker of what the catalog has', 'seal', 'Seal', at('seal')],
  ]);
  it('at an address that another technology has too', () => {
    const other = { 'Quick Chat': { cats: [52], website: 'https://quick.example', ...HEADERS } };
    assert.equal(takenFor('Sprint Quick', { website: 'https://quick.example' }, other), 'sprint-quick');
  });
  it('and brings the other neither its role nor its versions', () => {
    const book = bookOf({ Phoenix: { cats: [18], website: 'https://code.example/phoenix', ...VERSIONED } });
    const parts: EvidenceParts = { http: { headers: { 'x-some': '1.2.3' }, cookies: ['_phoenix'] } };
    const services = detect(evidenceOf(parts), book).services.map(({ provider, version }) => `${provider} ${version}`);
    assert.deepEqual(services.sort(), ['phoenix null', 'phoenix-community 1.2.3']);
  });
});

/** Loaded by a page, an edge, and the cloud that both imply; then records that the catalog has under other names. */
const beside = rulebookWith(casesOf<Record<string, object>>('detect', 'technologies beside the catalog'));
const found = (parts: EvidenceParts, book = beside) =>
  detect(evidenceOf(parts), book).services.map(({ category, provider }) => `${category} ${provider}`);

const addresses = [{ asn: 64499 }];
it('an implication of what a header mentions leaves the host where it is', () => {
  const headers = { 'content-security-policy': 'script-src js.monitor.example' };
  const names = ['hosting cloudy', 'web_platform monitor', 'web_platform cloud-nine'];
  assert.deepEqual(found({ addresses, http: { headers } }), names);
});
it("an implication of an edge makes its owner's cloud no host, nor the catalog's provider an edge", () => {
  const parts: EvidenceParts = { addresses, http: { headers: { 'x-fastline': '1' } } };
  assert.deepEqual(found(parts), ['cdn fastline', 'web_platform cloud-nine', 'web_platform edgy']);
  assert.equal(detect(evidenceOf(parts), beside).roles.origin, 'blocked');
});
it('an implication of a sender shows nothing of the site', () => {
  const txt = ['v=spf1 include:spf.other-sender.example -all', 'other-sender=1'];
  assert.deepEqual(found({ txt }), ['email_sending other-sender', 'verified_service other-sender']);
});

describe('a record that the catalog knows', () => {
  const parts: EvidenceParts = {
    soa: [{ mname: 'ns1.dnsco.test', rname: 'hostmaster.dnsco.test', serial: 1 }],
    ...{ ns: ['ns1.dnsco.test'], mx: ['10 aspmx.l.googly.test'], txt: ['googly-account=1'] },
    ...{ www: aliasTo('x.edgy.test'), tls: { status: 'found', issuer: 'Certy', isTrusted: true } as const },
  };
  it('names no other provider', () => {
    const own = found(parts, compileRulebook(testCatalog));
    assert.ok(own.length >= 4);
    assert.deepEqual(found(parts), own);
    // The set has evidence for the same provider.
    const [dns] = detect(evidenceOf(parts), beside).services;
    assert.ok(dns?.evidence.some(({ rule }) => rule.startsWith('dnsco/ns/set:')));
  });
  it('or a header, names no other edge, but its other properties', () => {
    const headers = { 'x-edgy-ray': '1', server: 'edgy' };
    assert.deepEqual(found({ http: { headers } }), ['cdn edgy', 'web_platform edge-server']);
  });
  it('leaves one that it does not know to the set', () => {
    const names = found({ ns: ['a.not-dnsco.test', 'ns1.dnsco.test'], mx: ['10 x-aspmx.l.googly.test'] });
    assert.deepEqual(names, ['dns dnsco', 'dns other-dns', 'email other-mail']);
  });
});
