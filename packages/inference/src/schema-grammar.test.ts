import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompletionError } from './errors.ts';
import { callGrammar, JSON_OBJECT_GRAMMAR, schemaGrammar } from './schema-grammar.ts';

const grammarOf = (schema: Record<string, unknown>) => schemaGrammar(schema, 'response_format');
const refused = (schema: Record<string, unknown>, kind: string, words: RegExp) =>
  assert.throws(
    () => grammarOf(schema),
    (error) =>
      error instanceof CompletionError &&
      error.kind === kind &&
      error.param === 'response_format' &&
      words.test(error.message),
    JSON.stringify(schema),
  );

/** Every name that a rule uses has a rule. */
function assertWhole(grammar: string): void {
  const rules = new Map(
    grammar
      .trim()
      .split('\n')
      .map((line) => line.split(' ::= ') as [string, string]),
  );
  for (const [rule, text] of rules) {
    const bare = text
      .replaceAll(/"(\\.|[^"\\])*"/g, ' ')
      .replaceAll(/\[(\\.|[^\]\\])*\]/g, ' ')
      .replaceAll(/\{[\d,]*\}/g, ' ');
    for (const [name] of bare.matchAll(/[a-z][a-z0-9-]*/g)) assert.ok(rules.has(name), `${name} of ${rule}`);
  }
}

describe('the grammar of a schema', () => {
  it('has a rule for all that it names', () => {
    const schemas = [
      { type: 'object', properties: { a: { type: 'integer' }, b: { enum: ['x', 1, null] } }, required: ['a'] },
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/n' } },
        $defs: { n: { type: 'array', items: { $ref: '#' } } },
      },
      { anyOf: [{ type: 'string', maxLength: 5 }, { type: ['null', 'boolean'] }] },
      { allOf: [{ properties: { a: { const: 'q"\\' } } }, { properties: { b: true }, required: ['b'] }] },
      { type: 'array', items: { type: 'string', format: 'date' }, minItems: 1, maxItems: 3 },
      { type: 'integer', minimum: 1, maximum: 6 },
      { type: 'object', additionalProperties: { type: 'number' } },
      {},
    ];
    for (const schema of schemas) assertWhole(grammarOf(schema));
    assertWhole(JSON_OBJECT_GRAMMAR);
    assertWhole(
      callGrammar(
        [
          { name: 'f', parameters: schemas[0] ?? {} },
          { name: 'g', parameters: {} },
        ],
        'tools',
      ),
    );
  });

  it('refuses what it could not hold to, and what is no schema', () => {
    refused({ type: 'string', pattern: '^a' }, 'unsupported_value', /#.*`pattern`/);
    refused({ type: 'object', properties: { a: { not: {} } } }, 'unsupported_value', /#\/properties\/a.*`not`/);
    refused({ type: 'number', minimum: 0 }, 'unsupported_value', /bounds a number/);
    refused({ type: 'integer', minimum: 5 }, 'unsupported_value', /open/);
    refused({ type: 'integer', minimum: 5, maximum: 4 }, 'invalid_value', /empty range/);
    refused({ type: 'strin' }, 'invalid_value', /unknown type "strin"/);
    refused({ $ref: '#/$defs/none' }, 'invalid_value', /not there/);
    refused({ $ref: 'https://example.com/x' }, 'invalid_value', /not there/);
    refused({ enum: [] }, 'invalid_value', /empty enum/);
    refused({ type: 'array', items: 7 }, 'invalid_value', /not a schema/);
    refused({ type: 'string', maxLength: 1e9 }, 'unsupported_value', /beyond/);
  });

  it('is bounded, whatever the schema', () => {
    let deep: Record<string, unknown> = {};
    for (let i = 0; i < 100; i += 1) deep = { type: 'array', items: deep };
    refused(deep, 'unsupported_value', /deeper/);
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`p${i}`, { type: 'string' }]));
    refused({ type: 'object', properties: wide }, 'unsupported_value', /too large/);
  });
});
