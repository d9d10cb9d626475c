import assert from 'node:assert/strict';
import { it } from 'node:test';
import { detect } from '../detect.ts';
import type { Page } from '../evidence/evidence.ts';
import { extractPage } from '../evidence/page.ts';
import { schemaTypeName, schemaTypesOf } from '../evidence/structured-data.ts';
import { loadCatalog } from '../rulebook/load-catalog.ts';
import { compileRulebook } from '../rulebook/rulebook.ts';
import { evidenceOf, testEntries, testRulebook } from '../test/index.ts';
import { decideSector, sectorOf } from './sector.ts';
import { type SectorListError, sectorListOf } from './sector-list.ts';
import type { Sector } from './sector-types.ts';

const brazil = 'tce.ac.gov.br campinas.sp.gov.br';
const table = {
  government: `nasa.gov defra.gov.uk interieur.gouv.fr mof.go.jp army.mil ${brazil} health.qld.gov.au city.nagoya.lg.jp`,
  education_research: 'mit.edu ox.ac.uk unimelb.edu.au perth.wa.edu.au high.school.nz',
  health: 'trust.nhs.uk',
  finance_insurance: 'first.bank',
  unknown: 'example.com edu.example.com gov-news.com shop.go.it szkola.edu.pl ascension.ac me.github.io foo.notatld',
};
for (const [sector, domains] of Object.entries(table))
  for (const domain of domains.split(' '))
    it(`sectorOf of ${domain} is ${sector}`, () => assert.equal(sectorOf(domain), sector));

const empty: Page = { title: null, metas: {}, assets: [], markers: [], isTruncated: false };
const pageWith = (...types: readonly string[]): Page => ({ ...empty, types });
const decide = (domain: string, page: Page | null, list: Record<string, Sector> = {}) =>
  decideSector(domain, { list: new Map(Object.entries(list)), page });
it('decideSector uses the operator’s list, then the suffix, then the page', () => {
  const hospital = pageWith('Organization', 'Hospital');
  assert.deepEqual(decide('ox.ac.uk', hospital, { 'ox.ac.uk': 'health' }), { sector: 'health', source: 'list' });
  assert.deepEqual(decide('ox.ac.uk', hospital), { sector: 'education_research', source: 'suffix' });
  assert.deepEqual(decide('example.com', hospital), { sector: 'health', source: 'page' });
});
it('decideSector is unknown, with a null source, without any of them', () => {
  for (const page of [null, pageWith('Organization', '__proto__', 'constructor')])
    assert.deepEqual(decide('example.com', page), { sector: 'unknown', source: null });
});
it('decideSector is not that of the page of another', () => {
  const sectorAt = (url: string) => detect(evidenceOf({ http: { url, page: { types: ['Hospital'] } } }), testRulebook);
  const found = ['https://other.test/', 'https://example.com/'].map((url) => sectorAt(url).sector);
  assert.deepEqual(found, ['unknown', 'health']);
});
it('decideSector is unknown where a page speaks of several', () => {
  assert.equal(decide('example.com', pageWith('Hospital', 'CollegeOrUniversity')).sector, 'unknown');
  assert.equal(decide('example.com', pageWith('Hospital', 'MedicalClinic')).sector, 'health');
});
it('sectorListOf reads rows, a heading before them or not', () => {
  const rows = ['example.com,health', 'WWW.Example.co.uk, media '].map((row) => row.split(','));
  assert.deepEqual(Object.fromEntries(sectorListOf(rows)), { 'example.com': 'health', 'example.co.uk': 'media' });
  assert.deepEqual(sectorListOf([['Domain', 'Sector'], ...rows]), sectorListOf(rows));
  assert.equal(sectorListOf([]).size, 0);
});
it('sectorListOf rejects a list with invalid rows, and reports them all', () => {
  const text = 'example.com,health example.com,media nonsense,health a.com,x b.com c.com,media,';
  const rows = text.split(' ').map((row) => row.split(','));
  const found = ({ problems }: SectorListError) => problems.map((each) => each.slice(4, 5)).join('') === '23456';
  assert.throws(() => sectorListOf(rows), found);
});
it('sectorListOf makes another rulebook, under which a domain has another sector', () => {
  const sectors = sectorListOf([['example.com', 'health']]);
  const listed = compileRulebook(loadCatalog(testEntries), { sectors });
  assert.notEqual(listed.version, testRulebook.version);
  assert.partialDeepStrictEqual(detect(evidenceOf(), listed), { sector: 'health', sectorSource: 'list' });
});

const typesOf = (html: string) => extractPage(html, { url: 'https://example.com/', isTruncated: false }).types;
const script = (json: string) => `<script type="application/ld+json">${json}</script>`;
it('schema.org types are those of the top nodes, of lists and of @graph', () => {
  assert.deepEqual(schemaTypesOf('{"@type": "Hospital", "parent": {"@type": "Store"}}'), ['Hospital']);
  const list = '[{"@type": ["Hotel", "Resort"]}, {"@type": "WebSite"}]';
  assert.deepEqual(schemaTypesOf(list), ['Hotel', 'Resort', 'WebSite']);
  const graph = '{"@graph": [{"@type": "https://schema.org/Bank"}, {"@type": "schema:NGO"}]}';
  assert.deepEqual(schemaTypesOf(graph), ['Bank', 'NGO']);
});
it('schema.org types are names, null for other text', () => {
  for (const type of ['https://example.com/Hospital', '', 'a b', 'x'.repeat(65), '__proto__'])
    assert.equal(schemaTypeName(type), null, type);
});
it('schema.org types are empty for invalid JSON, or other JSON', () => {
  for (const json of ['', '{', 'null', '7', '"x"', '[[[]]]', '{"@type": 7}', '{"@graph": 7}', '['.repeat(30_000)])
    assert.deepEqual(schemaTypesOf(json), [], json.slice(0, 20));
});
it('schema.org types of a page are those of its JSON-LD and its microdata, each once', () => {
  const html = `<body itemscope itemtype="https://schema.org/Hotel http://schema.org/Resort">${script('{"@type":"Hotel"}')}`;
  assert.deepEqual(typesOf(html), ['Hotel', 'Resort']);
  // Nested nodes may describe anything: a shop's products, a directory's hotels.
  assert.deepEqual(typesOf('<div itemscope itemtype="https://schema.org/Hotel">'), []);
  assert.deepEqual(typesOf('<SCRIPT TYPE="Application/LD+JSON">{"@type":"Hotel"}</SCRIPT>'), ['Hotel']);
});
it('schema.org types of a page exclude other scripts, text, and an unfinished script', () => {
  assert.deepEqual(typesOf('<script>{"@type":"Hotel"}</script>{"@type":"Hotel"}'), []);
  assert.deepEqual(typesOf('<script type="application/ld+json">{"@type":"Hotel"}'), []);
});
it('schema.org types of a page are bounded: 32 of them, from 64 Ki characters of JSON', () => {
  const many = Array.from({ length: 50 }, (_, i) => `{"@type":"T${i}"}`);
  assert.equal(typesOf(script(`[${many.join(',')}]`))?.length, 32);
  const large = script(`{"@type":"Hotel","x":"${'y'.repeat(70_000)}"}`);
  assert.deepEqual(typesOf(`${large}${script('{"@type":"Resort"}')}`), []);
});
