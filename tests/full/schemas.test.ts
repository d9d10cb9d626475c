// JSON schemas of other projects (`../shared/conformance/models/schemas.json`) as grammars: ajv judges what the grammar
// generates, the examples are accepted or refused, and llama.cpp reads every grammar.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { grammarProblem, schemaGrammar } from '@strata/inference';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { Grammar } from '../../packages/inference/src/test/sample-grammar.ts';
import { randomFrom } from '../support/random.ts';

interface Case {
  readonly set: string;
  readonly family: string;
  readonly id: string;
  readonly schema: Record<string, unknown>;
  readonly tests: readonly { readonly data: unknown; readonly valid: boolean }[];
}

const FILE = path.join(import.meta.dirname, '../../../shared/conformance/models/schemas.json');

/** What is wrong with a grammar. Examples on which ajv and their source differ are left out. */
function faultOf({ schema, tests }: Case, gbnf: string): string | undefined {
  const ajv = new Ajv2020({ strict: false, logger: false });
  addFormats.default(ajv);
  const isValid = ajv.compile(schema);
  const [grammar, random] = [new Grammar(gbnf), randomFrom(1)];
  for (const { data, valid } of tests) {
    const text = JSON.stringify(data);
    if (isValid(data) === valid && grammar.accepts(text) !== valid) return `${valid ? 'refuses' : 'accepts'} ${text}`;
  }
  for (let i = 0; i < 40; i += 1) {
    const text = grammar.sample(random);
    if (!isValid(JSON.parse(text))) return `generates ${text}`;
  }
  // The engine follows each stack.
  return grammar.maxStacks > 100 ? `needs ${grammar.maxStacks} stacks` : undefined;
}

it('schemas as they are used become grammars', {
  skip: !existsSync(FILE) && 'no conformance vectors',
}, async (t) => {
  const cases = JSON.parse(readFileSync(FILE, 'utf8')) as Case[];
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error });
  const times: number[] = [];
  const table = new Map<string, { all: number; accepted: number; right: number }>();
  for (const each of cases) {
    const row = table.get(each.family) ?? { all: 0, accepted: 0, right: 0 };
    table.set(each.family, { ...row, all: row.all + 1 });
    const begun = process.cpuUsage();
    let gbnf: string | undefined;
    try {
      gbnf = schemaGrammar(each.schema, 'schema');
    } catch (error) {
      assert.equal((error as Error).name, 'CompletionError');
      t.diagnostic(`refused: ${each.id}: ${(error as Error).message}`);
    }
    times.push(process.cpuUsage(begun).user / 1000);
    if (gbnf !== undefined) {
      assert.equal(grammarProblem(gbnf), undefined, each.id);
      await llama.createGrammar({ grammar: gbnf });
    }
    // A schema that allows nothing is right to be refused.
    const fault = gbnf === undefined ? undefined : faultOf(each, gbnf);
    if (fault) t.diagnostic(`wrong: ${each.id}: ${fault.slice(0, 300)}`);
    const isHeld = gbnf !== undefined || each.tests.every(({ valid }) => !valid);
    const { all, accepted, right } = table.get(each.family) ?? row;
    table.set(each.family, { all, accepted: accepted + Number(isHeld), right: right + Number(isHeld && !fault) });
  }
  for (const [family, { all, accepted, right }] of table)
    t.diagnostic(`${family}: ${accepted} of ${all} accepted, ${right} right`);
  const sum = (key: 'all' | 'accepted' | 'right') => [...table.values()].reduce((total, each) => total + each[key], 0);
  assert.ok(sum('accepted') >= 0.98 * sum('all'), 'accepted');
  assert.ok(sum('right') >= 0.97 * sum('accepted'), 'right');
  const slow = times.sort((a, b) => b - a)[Math.floor(times.length / 100)] ?? 0;
  assert.ok(slow < 150, `the slowest of a hundred takes ${slow} ms`);
});
