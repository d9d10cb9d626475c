// JSON schemas of other projects as grammars: ajv judges what the grammar generates, the examples are accepted or
// refused, and llama.cpp reads every grammar. They are `../shared/conformance/models/schemas.json`, and files of
// MaskBench (github.com/guidance-ai/jsonschemabench, maskbench/data) in the folder STRATA_SCHEMAS.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { grammarProblem, schemaGrammar } from '@strata/inference';
import { Ajv } from 'ajv';
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

interface File {
  readonly schema: Record<string, unknown>;
  readonly tests: Case['tests'];
}

const FILE = path.join(import.meta.dirname, '../../../shared/conformance/models/schemas.json');

const FOLDER = process.env.STRATA_SCHEMAS;

/** Families are the folders of MaskBench. */
const maskBench = (FOLDER ? readdirSync(FOLDER) : []).sort().map((id): Case => {
  const { schema, tests }: File = JSON.parse(readFileSync(path.join(FOLDER ?? '', id), 'utf8'));
  return { set: 'MaskBench', family: `MaskBench ${id.split(/---|_/)[0]}`, id, schema, tests };
});

/** Undefined if ajv cannot read the schema. Schemas of MaskBench have their draft's meaning. */
function judgeOf({ set, schema: { $schema, ...schema } }: Case) {
  const options = {
    strict: false,
    logger: false as const,
    validateSchema: false,
    ownProperties: true,
    multipleOfPrecision: 9,
  };
  const ajv = set !== 'MaskBench' || /20\d\d/.test(`${$schema}`) ? new Ajv2020(options) : new Ajv(options);
  addFormats.default(ajv);
  try {
    return ajv.compile(schema);
  } catch (error) {
    if (set !== 'MaskBench') throw error;
    return undefined;
  }
}

/**
 * What is wrong with a grammar. Examples on which ajv and their source differ are left out, and valid ones of MaskBench,
 * whose properties may be in another order than those of the schema.
 */
function faultOf(each: Case, gbnf: string): string | undefined {
  const isValid = judgeOf(each);
  if (!isValid) return undefined;
  const [grammar, random] = [new Grammar(gbnf), randomFrom(1)];
  for (const { data, valid } of each.tests) {
    const text = JSON.stringify(data);
    if (valid && each.set === 'MaskBench') continue;
    if (isValid(data) === valid && grammar.accepts(text) !== valid) return `${valid ? 'refuses' : 'accepts'} ${text}`;
  }
  for (let i = 0; i < 40; i += 1) {
    const text = grammar.sample(random);
    if (!isValid(JSON.parse(text))) return `generates ${text}`;
  }
  // The engine follows each stack.
  return grammar.maxStacks > (each.set === 'MaskBench' ? 1_000 : 100) ? `needs ${grammar.maxStacks} stacks` : undefined;
}

it('schemas as they are used become grammars', {
  skip: !existsSync(FILE) && 'no conformance vectors',
}, async (t) => {
  const cases = [...(JSON.parse(readFileSync(FILE, 'utf8')) as Case[]), ...maskBench];
  const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error });
  const times: number[] = [];
  const table = new Map<string, { all: number; accepted: number; right: number }>();
  for (const each of cases) {
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
    const isImpossible = each.tests.length > 0 && each.tests.every(({ valid }) => !valid);
    const isHeld = gbnf !== undefined || isImpossible;
    for (const name of [each.family, each.set]) {
      const { all, accepted, right } = table.get(name) ?? { all: 0, accepted: 0, right: 0 };
      const counted = { accepted: accepted + Number(isHeld), right: right + Number(isHeld && !fault) };
      table.set(name, { all: all + 1, ...counted });
    }
  }
  for (const [family, { all, accepted, right }] of table)
    t.diagnostic(`${family}: ${accepted} of ${all} accepted, ${right} right`);
  const sum = (key: 'all' | 'accepted' | 'right') => [...table.values()].reduce((total, each) => total + each[key], 0);
  assert.ok(sum('accepted') >= 0.96 * sum('all'), 'accepted');
  assert.equal(sum('right'), sum('accepted'), 'right');
  t.diagnostic(`the median of all takes ${times.sort((a, b) => a - b)[times.length >> 1]} ms of processor time`);
  const slow = times.sort((a, b) => b - a)[Math.floor(times.length / 100)] ?? 0;
  assert.ok(slow < 150, `the slowest of a hundred takes ${slow} ms`);
});
