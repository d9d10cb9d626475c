import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { grammarProblem } from './grammar-bounds.ts';
import { schemaGrammar } from './schema-grammar.ts';

describe('the bounds of a grammar', () => {
  const hostile: Record<string, readonly [string, RegExp]> = {
    'parentheses without end': [`root ::= ${'('.repeat(30_000)}"a"${')'.repeat(30_000)}`, /nests deeper/],
    'parentheses that are never closed': [`root ::= ${'('.repeat(30_000)}`, /nests deeper/],
    'repetitions of repetitions': ['root ::= (("a" "b"){1,2000}){1,2000}', /more than 400000 parts/],
    'one repetition of a thousand million': ['root ::= "a"{1000000000}', /more than 2000 times/],
    'a least number alone': ['root ::= [a-z]{1000000,}', /more than 2000 times/],
    'groups in groups, each a hundred times': ['root ::= (((("a"){100}){100}){100}){100}', /more than 400000 parts/],
    'a text of megabytes': [`root ::= "${'a'.repeat(600_000)}"`, /bytes/],
    'rules without end': [Array.from({ length: 20_000 }, (_, i) => `r${i} ::= "a"`).join('\n'), /rules/],
  };
  for (const [name, [gbnf, words]] of Object.entries(hostile))
    it(`refuse ${name}`, () => assert.match(grammarProblem(gbnf) ?? '', words));

  it('let what a schema asks for pass, the largest too', () => {
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

  it('do not take signs in texts, classes and comments for the grammar', () => {
    const gbnf = `root ::= "${'('.repeat(5_000)}" [({}"] # ${'('.repeat(5_000)}\n  "\\"{1,900000}" [^\\]{9999999}]*\n`;
    assert.equal(grammarProblem(gbnf), undefined);
  });

  it('read brackets that do not match without harm', () => {
    for (const gbnf of ['))))', 'root ::= )"a"{3}(', '{,}{x}{5}', '', '"', '[', '\\'])
      assert.equal(grammarProblem(gbnf), undefined);
  });

  it('read texts that never end in one pass', () => {
    for (const part of ['\\"', '"\\"', '[\\]', '{', '\\'])
      assert.equal(grammarProblem(`root ::= "${part.repeat(100_000)}`), undefined);
  });
});
