import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractPage } from './page.ts';
import { schemaTypeName, schemaTypesOf } from './structured-data.ts';

const typesOf = (html: string) => extractPage(html, { url: 'https://example.com/', isTruncated: false }).types;
const script = (json: string) => `<script type="application/ld+json">${json}</script>`;

describe('schema.org types', () => {
  it('are those of the top nodes, of lists and of @graph', () => {
    assert.deepEqual(schemaTypesOf('{"@type": "Hospital", "parent": {"@type": "Store"}}'), ['Hospital']);
    const list = '[{"@type": ["Hotel", "Resort"]}, {"@type": "WebSite"}]';
    assert.deepEqual(schemaTypesOf(list), ['Hotel', 'Resort', 'WebSite']);
    const graph = '{"@graph": [{"@type": "https://schema.org/Bank"}, {"@type": "schema:NGO"}]}';
    assert.deepEqual(schemaTypesOf(graph), ['Bank', 'NGO']);
  });
  it('are names, and none of what is no name', () => {
    for (const type of ['https://example.com/Hospital', '', 'a b', 'x'.repeat(65), '__proto__'])
      assert.equal(schemaTypeName(type), null, type);
  });
  it('are none of what is no JSON, or other JSON', () => {
    for (const json of ['', '{', 'null', '7', '"x"', '[[[]]]', '{"@type": 7}', '{"@graph": 7}', '['.repeat(30_000)])
      assert.deepEqual(schemaTypesOf(json), [], json.slice(0, 20));
  });
  it('of a page are those of its JSON-LD and its microdata, each once', () => {
    const html = `<body itemscope itemtype="https://schema.org/Hotel http://schema.org/Resort">${script('{"@type":"Hotel"}')}`;
    assert.deepEqual(typesOf(html), ['Hotel', 'Resort']);
    // What stands further in speaks of anything: a shop's products, a directory's hotels.
    assert.deepEqual(typesOf('<div itemscope itemtype="https://schema.org/Hotel">'), []);
    assert.deepEqual(typesOf('<SCRIPT TYPE="Application/LD+JSON">{"@type":"Hotel"}</SCRIPT>'), ['Hotel']);
  });
  it('of a page are none of other scripts, of text, or of a script that does not end', () => {
    assert.deepEqual(typesOf('<script>{"@type":"Hotel"}</script>{"@type":"Hotel"}'), []);
    assert.deepEqual(typesOf('<script type="application/ld+json">{"@type":"Hotel"}'), []);
  });
  it('of a page are bounded: 32 of them, from 64 Ki characters of JSON', () => {
    const many = Array.from({ length: 50 }, (_, i) => `{"@type":"T${i}"}`);
    assert.equal(typesOf(script(`[${many.join(',')}]`))?.length, 32);
    const large = script(`{"@type":"Hotel","x":"${'y'.repeat(70_000)}"}`);
    assert.deepEqual(typesOf(`${large}${script('{"@type":"Resort"}')}`), []);
  });
});
