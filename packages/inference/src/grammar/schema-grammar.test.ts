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
    const loop = { anyOf: [{ $ref: '#/$defs/a' }, {}] };
    refused(
      [{ pattern: 'a(?<=a)' }, 'unsupported_value', /#.*behind/],
      [{ properties: { a: { pattern: '(a)\\1' } } }, 'unsupported_value', /#\/properties\/a.*back-reference/],
      ...['(', 'a)', '[b-a]', '*', 'a{2,1}', '\\p{Nope}', '(?i:a)', '\\ba', '(^a)*', 'a{99999}', '('.repeat(60)].map(
        (pattern): Row => [{ items: { pattern } }, 'unsupported_value', /#\/items has a `pattern` that/],
      ),
      [{ pattern: '(a|b)*a(a|b){20}' }, 'unsupported_value', /# is too large/],
      [{ pattern: '^[^a]{0,500}[^b]{0,500}[^c]{0,500}$' }, 'unsupported_value', /too large/],
      [{ properties: { a: { not: { format: 'date' } } } }, 'unsupported_value', /#\/properties\/a\/not uses `format`/],
      [{ not: { additionalProperties: false } }, 'unsupported_value', /#\/not uses `additionalProperties`/],
      [{ $dynamicRef: '#a' }, 'unsupported_value', /uses `\$dynamicRef`/],
      [{ type: 'array', uniqueItems: true }, 'unsupported_value', /`uniqueItems`/],
      [{ multipleOf: 0.123456789 }, 'unsupported_value', /too many remainders/],
      [{ type: 'integer', minimum: 5, maximum: 4 }, 'invalid_value', /no value/],
      [{ type: 'strin' }, 'invalid_value', /unknown type "strin"/],
      [{ $ref: '#/$defs/none' }, 'invalid_value', /does not exist/],
      [{ $ref: 'https://example.com/x' }, 'invalid_value', /does not exist/],
      [{ type: 'array', items: 7 }, 'invalid_value', /`items` of the wrong type/],
      // Contradictory bounds and combinations.
      [{ type: 'string', minLength: 5, maxLength: 3 }, 'invalid_value', /empty range/],
      [{ type: 'array', minItems: 4, maxItems: 2 }, 'invalid_value', /empty range/],
      [{ enum: ['a'], minLength: 2, type: 'string' }, 'invalid_value', /no value/],
      [{ enum: ['a'], type: 'integer' }, 'invalid_value', /no value/],
      [{ enum: [1, 2], const: 3 }, 'invalid_value', /no value/],
      [{ allOf: [{ type: 'string' }, { type: 'object' }] }, 'invalid_value', /no value/],
      [{ oneOf: [true, true] }, 'invalid_value', /no value/],
      [{ type: 'object', additionalProperties: false, required: ['b'] }, 'invalid_value', /no value/],
      ...['anyOf', 'oneOf', 'type', 'enum', 'allOf', 'required', 'properties', 'minLength'].map(
        (each): Row => [{ [each]: -1 }, 'invalid_value', new RegExp(`\`${each}\` of the wrong type`)],
      ),
      [{ anyOf: [], oneOf: [true] }, 'invalid_value', /`anyOf` of the wrong type or an empty one/],
      // References without a target, and references to themselves.
      [{ $ref: '#/%zz' }, 'invalid_value', /does not exist/],
      [{ $ref: '#' }, 'invalid_value', /itself/],
      [{ $defs: { a: loop }, $ref: '#/$defs/a' }, 'invalid_value', /itself/],
      [{ allOf: [{ $ref: '#' }] }, 'invalid_value', /itself/],
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
      { type: 'object', additionalProperties: { type: 'number' } },
      { allOf: [{ $ref: '#/$defs/a' }, { properties: { y: { type: 'integer' } }, required: ['y'] }], $defs: { a } },
      { $ref: '#/$defs/a', properties: { z: { enum: [1, null] } }, required: ['z'], $defs: { a } },
      { allOf: [fiveToNine, { minimum: 0, exclusiveMaximum: 9 }] },
      { allOf: [a, { properties: { x: { minLength: 2 } } }, { allOf: [{ required: ['w'] }] }] },
      { ...object({ k: { const: 'x' } }, 'k'), anyOf: [{ required: ['a'] }, { required: ['b'] }] },
      { properties: { b: { type: 'boolean' } }, required: ['a', 'b'], additionalProperties: { type: 'integer' } },
      { type: ['string', 'integer'], enum: ['a', 1, null], title: 'one of two' },
      { type: 'array', items: { type: 'string', format: 'date-time' }, minItems: 1, maxItems: 3 },
      { type: 'object', properties: { '"\\': { type: 'null' }, 'a\nb': { const: 'q"\\\n' } }, required: ['a\nb'] },
      { type: 'object', properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } }, required: ['next'] },
      { type: 'string', format: 'uuid' },
      { enum: ['😀', '😁', '😀a'] },
      { enum: ['a', 'ab', 'abc', 'b', 'ab', '', 'é"\\', 12, 123, 1, null, [1, { a: 'ab' }]] },
      object(properties(60, { type: 'integer' }), 'p30'),
      { type: 'array', maxItems: 3_000, minItems: 500, items: { const: 0 } },
      { type: 'string', minLength: 300, maxLength: 700 },
      { pattern: '^(?!.*--)[a-z][a-z-]{2,6}$|^\\\\d+\\p{Lu}\\u00e9"\\n$', maxLength: 6 },
      { type: 'number', exclusiveMinimum: -1.5, maximum: 1e6, multipleOf: 0.25 },
      { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
      { oneOf: [{ type: 'integer' }, { minimum: 2 }], not: { enum: [null, 'a'] } },
      { oneOf: ['a', 'b'].map((name) => object({}, name)) },
      { type: 'object', propertyNames: { pattern: '^[ab]{1,2}$' }, minProperties: 1, maxProperties: 2 },
      { type: 'object', patternProperties: { a: { const: 1 }, '^b$': false } },
      { type: 'array', prefixItems: [{ const: 1 }, { const: 2 }], minItems: 1, maxItems: 4, items: { type: 'null' } },
      { type: 'array', uniqueItems: true, items: { enum: ['x', 'y', true, 3] }, minItems: 2 },
      { type: 'array', contains: { const: 1 }, items: { type: 'integer', minimum: 0, maximum: 3 } },
      { type: 'object', dependentRequired: { a: ['b'] }, if: { required: ['c'] }, else: { required: ['d'] } },
      { allOf: [object({ a: { const: 1 } })], properties: { b: {} }, unevaluatedProperties: false },
      ...'email hostname ipv4 ipv6 uri url uri-reference time duration json-pointer regex'
        .split(' ')
        .map((format) => ({ type: 'string', format })),
    ];
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    for (const schema of schemas) {
      const isValid = ajv.compile(schema);
      for (const text of sampleGrammar(grammarOf(schema), 20))
        assert.ok(isValid(JSON.parse(text)), `${text} of ${JSON.stringify(schema)}`);
    }
    const tools = [record, {}].map((parameters, i) => ({ name: 'fg'.charAt(i), parameters }));
    for (const text of sampleGrammar(callGrammar(tools, 'tools'), 40)) assert.match(text, /"name": ?"[fg]"/);
    const either = sampleGrammar(schemaOrCallGrammar({ type: 'object' }, 'f', tools), 40);
    assert.ok(either.some((text) => /"name": ?"f"/.test(text)) && either.some((text) => !/"name": ?"f"/.test(text)));
  });
  it('grows linearly with the schema, and no faster for schemas that refer to each other twice', () => {
    const optional = (count: number) => grammarOf(object(properties(count, {})));
    assert.ok(optional(400).length < 5 * optional(100).length);
    const twice = { type: 'array', items: { $ref: '#' } };
    assert.doesNotMatch(grammarOf({ anyOf: [twice, twice] }).split('\n')[1] ?? '', /s-1.*s-1.*s-1/);
    const both = (i: number) => ({ allOf: Array(2).fill({ $ref: `#/$defs/d${i + 1}` }) });
    const $defs = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [`d${i}`, both(i)]));
    assert.ok(grammarOf({ $ref: '#/$defs/d0', $defs: { ...$defs, d24: {} } }).length < 1_000);
  });
  it('is bounded for every schema', () => {
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100; i += 1) deep = { type: 'array', items: deep };
    const large = object(properties(9_000, { type: 'string' }));
    const choices = { anyOf: Array.from({ length: 40 }, (_, i) => ({ required: [`p${i}`] })) };
    refused([deep, 'unsupported_value', /deeper/], [large, 'unsupported_value', /too large/]);
    for (const long of [{ pattern: 'a?'.repeat(5_000) }, { const: 'a'.repeat(100_000) }])
      refused([{ items: long }, 'unsupported_value', /is too large/]);
    refused([{ allOf: [choices, choices, { ...choices }] }, 'unsupported_value', /too many alternatives/]);
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
