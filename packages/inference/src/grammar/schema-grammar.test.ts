import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { sampleGrammar } from '../test/sample-grammar.ts';
import { grammarProblem } from './grammar-bounds.ts';
import { callGrammar, schemaGrammar, schemaOrCallGrammar } from './schema-grammar.ts';

const object = (properties: object, ...required: string[]) => ({ type: 'object', properties, required });
const properties = (count: number, schema: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, schema]));
const grammarOf = (schema: Record<string, unknown>) => schemaGrammar(schema, 'response_format');
type Row = readonly [schema: Record<string, unknown>, kind: string, message: RegExp];
function refused(...rows: readonly Row[]): void {
  for (const [schema, kind, message] of rows) {
    const expected = { name: 'CompletionError', kind, param: 'response_format', message };
    assert.throws(() => grammarOf(schema), expected, JSON.stringify(schema));
  }
}

describe('the grammar of a schema', () => {
  it('rejects schemas that are unsupported or invalid', () => {
    const ab = [{ properties: { a: {} }, additionalProperties: false }, { properties: { b: {} } }];
    const loop = { anyOf: [{ $ref: '#/$defs/a' }, {}] };
    refused(
      [{ type: 'string', pattern: '^a' }, 'unsupported_value', /#.*`pattern`/],
      [{ type: 'object', properties: { a: { not: {} } } }, 'unsupported_value', /#\/properties\/a.*`not`/],
      [{ type: 'number', minimum: 0 }, 'unsupported_value', /bounds a number/],
      [{ type: 'integer', minimum: 5 }, 'unsupported_value', /open/],
      [{ type: 'integer', minimum: 5, maximum: 4 }, 'invalid_value', /empty range/],
      [{ type: 'strin' }, 'invalid_value', /unknown type "strin"/],
      [{ $ref: '#/$defs/none' }, 'invalid_value', /does not exist/],
      [{ $ref: 'https://example.com/x' }, 'invalid_value', /does not exist/],
      [{ enum: [] }, 'invalid_value', /empty enum/],
      [{ type: 'array', items: 7 }, 'invalid_value', /not a schema/],
      [{ type: 'string', maxLength: 1e9 }, 'unsupported_value', /above/],
      // Contradictory bounds, and keymessage that one schema cannot express.
      [{ type: 'string', minLength: 5, maxLength: 3 }, 'invalid_value', /empty range/],
      [{ type: 'array', minItems: 4, maxItems: 2 }, 'invalid_value', /empty range/],
      [{ type: 'array', minItems: 1, maxItems: 0 }, 'invalid_value', /empty range/],
      [{ type: 'number', exclusiveMinimum: 0 }, 'unsupported_value', /bounds a number/],
      [{ minimum: 3 }, 'unsupported_value', /bounds a number/],
      [{ enum: ['a'], minLength: 2 }, 'unsupported_value', /both `minLength` and a list of values/],
      [{ enum: ['a'], type: 'integer' }, 'invalid_value', /none of its own values/],
      [{ enum: [1, 2], const: 3 }, 'unsupported_value', /both/],
      [{ allOf: [{ type: 'string' }, { type: 'object' }] }, 'unsupported_value', /no type/],
      [{ allOf: [{ const: 1 }, { const: 2 }] }, 'unsupported_value', /two different values of `const`/],
      [{ allOf: ab }, 'unsupported_value', /"b" of another schema/],
      [{ ...ab[0], required: ['b'] }, 'invalid_value', /requires "b", which it does not allow/],
      ...[{ anyOf: [] }, { oneOf: {} }, { type: [] }].map(
        (none): Row => [none, 'invalid_value', /list of alternatives/],
      ),
      [{ anyOf: [{}], oneOf: [{}] }, 'unsupported_value', /both/],
      [{ enum: 'a' }, 'invalid_value', /`enum` of the wrong type/],
      [{ allOf: [{ required: 5 }, { required: ['a'] }] }, 'invalid_value', /`required` of the wrong type/],
      [{ allOf: [{ properties: null }, { properties: { a: true } }] }, 'invalid_value', /`properties`/],
      [{ type: 'string', format: 'date', maxLength: 5 }, 'unsupported_value', /format and a length/],
      [{ allOf: {} }, 'invalid_value', /not a list/],
      // References without a target, and references to themselves.
      [{ $ref: '#/%zz' }, 'invalid_value', /does not exist/],
      [{ $ref: '#' }, 'invalid_value', /itself/],
      [{ $defs: { a: loop }, $ref: '#/$defs/a' }, 'invalid_value', /itself/],
      [{ allOf: [{ $ref: '#' }] }, 'unsupported_value', /deeper/],
    );
    // Recursion is allowed if each level generates text.
    grammarOf({ type: 'object', properties: { next: { $ref: '#' } } });
  });
  it('generates only what the schema allows', () => {
    const a = { type: 'object', properties: { x: { type: 'string', maxLength: 3 } }, required: ['x'] };
    const record = object({ a: { type: 'integer' }, b: { enum: ['x', 1, null] } }, 'a');
    const fiveToNine = { type: 'integer', minimum: 5, maximum: 9 };
    const schemas: Record<string, unknown>[] = [
      record,
      { ...object({ a: { $ref: '#/$defs/n' } }), $defs: { n: { type: 'array', items: { $ref: '#' } } } },
      { anyOf: [{ type: 'string', maxLength: 5 }, { type: ['null', 'boolean'] }] },
      { allOf: [{ properties: { a: { const: 'q"\\' } } }, { properties: { b: true }, required: ['b'] }] },
      { type: 'array', items: { type: 'string', format: 'date' }, minItems: 1, maxItems: 3 },
      ...[{ minimum: 1, maximum: 6 }, { minimum: 0, maximum: 3 }, { minimum: 0 }].map((range) => ({
        type: 'integer',
        ...range,
      })),
      { type: 'object', additionalProperties: { type: 'number' } },
      {},
      { allOf: [{ $ref: '#/$defs/a' }, { properties: { y: { type: 'integer' } }, required: ['y'] }], $defs: { a } },
      { $ref: '#/$defs/a', properties: { z: { enum: [1, null] } }, required: ['z'], $defs: { a } },
      { allOf: [fiveToNine, { minimum: 0, exclusiveMaximum: 9 }] },
      { allOf: [{ enum: [1, 2] }, { enum: [2, 3] }] },
      { allOf: [a, { properties: { x: { minLength: 2 } } }, { allOf: [{ required: ['w'] }] }] },
      { ...object({ k: { const: 'x' } }, 'k'), anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { properties: { b: { type: 'boolean' } }, required: ['a', 'b'], additionalProperties: { type: 'integer' } },
      { type: ['string', 'integer'], enum: ['a', 1, null], title: 'one of two' },
      { minLength: 3 },
      { type: 'integer', minimum: 0, exclusiveMinimum: 5, maximum: 9 },
      { type: 'array', items: { type: 'string', format: 'date-time' }, minItems: 1, maxItems: 3 },
      { type: 'array', minItems: 2 },
      { type: 'object', properties: { '"\\': { type: 'null' }, 'a\nb': { const: 'q"\\\n' } }, required: ['a\nb'] },
      { type: 'object', properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }, required: ['next'] },
      { type: 'string', format: 'uuid' },
      { enum: ['😀', '😁', '😀a'] },
      { enum: ['a', 'ab', 'abc', 'b', 'ab', '', 'é"\\', 12, 123, 1, null, [1, { a: 'ab' }]] },
      object(properties(60, { type: 'integer' }), 'p30'),
      { additionalProperties: false },
    ];
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    for (const schema of schemas) {
      const isValid = ajv.compile(schema);
      for (const text of sampleGrammar(grammarOf(schema), 40))
        assert.ok(isValid(JSON.parse(text)), `${text} of ${JSON.stringify(schema)}`);
    }
    const tools = [record, {}].map((parameters, i) => ({ name: 'fg'.charAt(i), parameters }));
    for (const text of sampleGrammar(callGrammar(tools, 'tools'), 40)) assert.match(text, /"name": ?"[fg]"/);
    const either = sampleGrammar(schemaOrCallGrammar({ type: 'object' }, 'f', tools), 40);
    assert.ok(either.some((text) => /"name": ?"f"/.test(text)) && either.some((text) => !/"name": ?"f"/.test(text)));
  });
  it('grows linearly with the schema', () => {
    const optional = (count: number) => grammarOf(object(properties(count, {})));
    assert.ok(optional(400).length < 5 * optional(100).length);
    refused([{ enum: Array.from({ length: 2_000 }, (_, i) => i) }, 'unsupported_value', /1000 values/]);
    const twice = { type: 'array', items: { $ref: '#' } };
    assert.doesNotMatch(grammarOf({ anyOf: [twice, twice] }).split('\n')[0] ?? '', /\|/);
  });
  it('does not grow exponentially for schemas that refer to each other twice', () => {
    const twice = (i: number) => ({ allOf: Array(2).fill({ $ref: `#/$defs/d${i + 1}` }) });
    const $defs = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`d${i}`, twice(i)]));
    refused([{ $ref: '#/$defs/d0', $defs: { ...$defs, d24: {} } }, 'unsupported_value', /too large/]);
  });
  it('is bounded for every schema', () => {
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100; i += 1) deep = { type: 'array', items: deep };
    const large = object(properties(5_000, { type: 'string' }));
    refused([deep, 'unsupported_value', /deeper/], [large, 'unsupported_value', /too large/]);
  });
});

describe('the bounds of a grammar', () => {
  const hostile: Record<string, readonly [string, RegExp]> = {
    'parentheses without end': [`root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`, /nests deeper/],
    'parentheses that are never closed': [`root ::= ${'('.repeat(30_000)}`, /nests deeper/],
    'repetitions of repetitions': ['root ::= (("a" "b"){1,2000}){1,2000}', /more than 400000 parts/],
    'one repetition of a thousand million': ['root ::= "a"{1000000000}', /more than 2000 times/],
    'a minimum without a maximum': ['root ::= [a-z]{1000000,}', /more than 2000 times/],
    'groups in groups, each a hundred times': ['root ::= (((("a"){100}){100}){100}){100}', /more than 400000 parts/],
    'a literal of more than half a megabyte': [`root ::= "${'a'.repeat(600_000)}"`, /bytes/],
    '20,000 rules': [Array.from({ length: 20_000 }, (_, i) => `r${i} ::= "a"`).join('\n'), /rules/],
  };
  for (const [name, [gbnf, message]] of Object.entries(hostile))
    it(`refuse ${name}`, () => assert.match(grammarProblem(gbnf) ?? '', message));
  it('allow the grammars of schemas, including the largest', () => {
    const values = Array.from({ length: 1_000 }, (_, i) => 'a'.repeat(i));
    const largest = {
      type: 'object',
      properties: {
        chain: { enum: values.slice(0, 600) },
        long: { type: 'string', maxLength: 1_000 },
        list: { type: 'array', maxItems: 1_000, items: { type: 'integer', minimum: 0, maximum: 999 } },
        when: { type: 'string', format: 'date-time' },
      },
    };
    assert.equal(grammarProblem(schemaGrammar(largest, 'p')), undefined);
  });
  it('ignore operators in literals, classes and comments, and read unterminated tokens in one pass', () => {
    const open = '('.repeat(5_000);
    const quoted = `root ::= "${open}" [({}"] # ${open}\n  "\\"{1,900000}" [^\\]{9999999}]*\n`;
    const endless = ['\\"', '"\\"', '[\\]', '{', '\\'].map((part) => `root ::= "${part.repeat(100_000)}`);
    for (const gbnf of [quoted, ...endless, '))))', 'root ::= )"a"{3}(', '{,}{x}{5}', '', '"', '[', '\\'])
      assert.equal(grammarProblem(gbnf), undefined, gbnf.slice(0, 50));
  });
});
