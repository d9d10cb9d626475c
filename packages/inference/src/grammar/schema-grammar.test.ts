import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { sampleGrammar } from '../test/sample-grammar.ts';
import { grammarProblem } from './grammar-bounds.ts';
import { schemaGrammar } from './schema-grammar.ts';

const object = (properties: object, ...required: string[]) => ({ type: 'object', properties, required });
const properties = (count: number, schema: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, schema]));
const grammarOf = (schema: Record<string, unknown>) => schemaGrammar(schema, 'response_format');
type Schema = Record<string, unknown>;
type Row = readonly [schema: Schema, kind: string, message: string];
const file = path.join(import.meta.dirname, '../../../../vectors/answers/schemas.json');
const vectors: { readonly held: Schema[]; readonly refused: Row[] } = JSON.parse(readFileSync(file, 'utf8'));
function refused(...rows: readonly Row[]): void {
  for (const [schema, kind, message] of rows) {
    const expected = { name: 'CompletionError', kind, param: 'response_format', message: new RegExp(message) };
    assert.throws(() => grammarOf(schema), expected, JSON.stringify(schema));
  }
}

it('the grammar of a schema rejects schemas that are unsupported or invalid', () => {
  refused(...vectors.refused);
  // Recursion is allowed if each level generates text.
  grammarOf({ type: 'object', properties: { next: { $ref: '#' } } });
});
it('the grammar of a schema generates only what the schema allows', () => {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  for (const schema of vectors.held) {
    const isValid = ajv.compile(schema);
    for (const text of sampleGrammar(grammarOf(schema), 20))
      assert.ok(isValid(JSON.parse(text)), `${text} of ${JSON.stringify(schema)}`);
  }
});
it('the grammar of a schema grows linearly with the schema, and no faster for schemas that refer to each other twice', () => {
  const optional = (count: number) => grammarOf(object(properties(count, {})));
  assert.ok(optional(400).length < 5 * optional(100).length);
  const twice = { type: 'array', items: { $ref: '#' } };
  assert.doesNotMatch(grammarOf({ anyOf: [twice, twice] }).split('\n')[1] ?? '', /s-1.*s-1.*s-1/);
  const both = (i: number) => ({ allOf: Array(2).fill({ $ref: `#/$defs/d${i + 1}` }) });
  const $defs = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`d${i}`, both(i)]));
  assert.ok(grammarOf({ $ref: '#/$defs/d0', $defs: { ...$defs, d24: {} } }).length < 1_000);
});
it('the grammar of a schema is bounded for every schema', () => {
  let deep: Record<string, unknown> = {};
  for (let i = 0; i < 100; i += 1) deep = { type: 'array', items: deep };
  const large = object(properties(9_000, { type: 'string' }));
  const choices = { anyOf: Array.from({ length: 40 }, (_, i) => ({ required: [`p${i}`] })) };
  refused([deep, 'unsupported_value', 'deeper'], [large, 'unsupported_value', 'too large']);
  for (const long of [{ pattern: 'a?'.repeat(5e3) }, { pattern: `^${'a?'.repeat(2e3)}$` }, { const: 'a'.repeat(1e5) }])
    refused([{ items: long }, 'unsupported_value', 'is too large']);
  refused([{ allOf: [choices, choices, { ...choices }] }, 'unsupported_value', 'too many alternatives']);
  const negated = { properties: properties(900, {}), not: { patternProperties: { '^p': { type: 'integer' } } } };
  const overlapping = { oneOf: Array.from({ length: 100 }, (_, i) => ({ required: [`p${i}`] })) };
  for (const slow of [negated, overlapping])
    refused([{ properties: { a: slow } }, 'unsupported_value', '#/properties/a is too large: .* too many steps']);
});

it('schemas with different constants of a property exclude each other, however many there are', () => {
  const variant = (kind: string) => object({ kind: { const: kind } }, 'kind');
  const $defs = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`D${i}`, variant(`k${i}`)]));
  const oneOf = Object.keys($defs).map((name) => ({ $ref: `#/$defs/${name}` }));
  assert.ok(grammarOf({ oneOf, $defs }).length > 1_000);
  refused([{ oneOf: [variant('a'), variant('a')] }, 'invalid_value', 'allows no value']);
  assert.ok(grammarOf({ oneOf: [false, variant('a')] }));
});

const hostile: Record<string, readonly [string, string | RegExp]> = {
  ...casesOf<Record<string, [string, string]>>('inference', 'hostile repetitions'),
  'parentheses without end': [`root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`, /nests deeper/],
  'parentheses that are never closed': [`root ::= ${'('.repeat(30_000)}`, /nests deeper/],
  'a literal of more than half a megabyte': [`root ::= "${'a'.repeat(600_000)}"`, /bytes/],
  '20,000 rules': [Array.from({ length: 20_000 }, (_, i) => `r${i} ::= "a"`).join('\n'), /rules/],
};
for (const [name, [gbnf, message]] of Object.entries(hostile))
  it(`the bounds of a grammar refuse ${name}`, () => assert.match(grammarProblem(gbnf) ?? '', new RegExp(message)));
it('the bounds of a grammar allow the grammars of schemas, including the largest', () => {
  const values = Array.from({ length: 1_000 }, (_, i) => 'a'.repeat(i));
  const largest = {
    type: 'object',
    properties: {
      chain: { enum: values.slice(0, 600) },
      long: { type: 'string', maxLength: 1_000_000_000 },
      list: { type: 'array', maxItems: 1_000, items: { type: 'integer', minimum: 0, maximum: 999 } },
      when: { type: 'string', format: 'date-time' },
    },
  };
  assert.equal(grammarProblem(schemaGrammar(largest, 'p')), undefined);
});
it('the bounds of a grammar ignore operators in literals, classes and comments, and read unterminated tokens in one pass', () => {
  const open = '('.repeat(5_000);
  const quoted = `root ::= "${open}" [({}"] # ${open}\n  "\\"{1,900000}" [^\\]{9999999}]*\n`;
  const endless = ['\\"', '"\\"', '[\\]', '{', '\\'].map((part) => `root ::= "${part.repeat(100_000)}`);
  for (const gbnf of [quoted, ...endless, '))))', 'root ::= )"a"{3}(', '{,}{x}{5}', '', '"', '[', '\\'])
    assert.equal(grammarProblem(gbnf), undefined, gbnf.slice(0, 50));
});
