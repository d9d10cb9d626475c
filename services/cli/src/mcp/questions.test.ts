// The inputs of the tools against the routes that they ask, as openapi/stack.json describes them.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { requestOf } from './ask.ts';
import type { Question } from './question.ts';
import { QUESTIONS } from './questions/index.ts';

interface Schema {
  readonly enum?: readonly string[];
  readonly maximum?: number;
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly items?: Schema;
  readonly type?: string;
}
interface Parameter {
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

const root = path.join(import.meta.dirname, '../../../..');
const document = JSON.parse(readFileSync(path.join(root, 'openapi/stack.json'), 'utf8')) as {
  readonly paths: Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>;
};

const parametersOf = ({ path: at }: Question) => document.paths[at]?.get?.parameters ?? [];
const inputOf = ({ input }: Question) =>
  z.toJSONSchema(input, { io: 'input' }) as { readonly properties?: Record<string, Schema>; required?: string[] };

/** Inputs that are of no route: what they do is done here. */
const own = (question: Question) => [
  ...Object.keys(question.cuts ?? {}),
  ...(question.details ? ['details'] : []),
  ...(question.list?.paging === 'here' ? ['limit', 'offset'] : []),
  ...(question.list?.paging === 'limit' ? ['offset'] : []),
];

describe('the tools', () => {
  it('ask every question of the service in JSON, each once', () => {
    const asked = QUESTIONS.map((question) => question.path as string);
    const offered = Object.keys(document.paths).filter((at) => /^\/stack\/v1\/(?!stream$)(?!.*\.csv$)/.test(at));
    assert.deepEqual(asked.toSorted(), offered.toSorted());
    assert.equal(new Set(QUESTIONS.map(({ name }) => name)).size, QUESTIONS.length);
  });

  for (const question of QUESTIONS) {
    it(`${question.name} takes what ${question.path} takes`, () => {
      const { properties = {}, required = [] } = inputOf(question);
      const parameters = parametersOf(question);
      const names = parameters.map(({ name }) => name);
      assert.deepEqual(new Set(Object.keys(properties)), new Set([...names, ...own(question)]));
      const needed = parameters.flatMap((each) => (each.required ? each.name : []));
      assert.deepEqual(required.toSorted(), needed.toSorted());
      for (const { name, schema } of parameters) {
        if (own(question).includes(name)) continue;
        const mine = properties[name] ?? {};
        if (schema.enum && mine.type !== 'boolean') assert.deepEqual(mine.enum, schema.enum, name);
        if (mine.type === 'boolean') assert.deepEqual(schema.enum, ['true', 'false'], name);
        if (schema.maximum !== undefined) assert.ok((mine.maximum ?? Infinity) <= schema.maximum, name);
        if (schema.minimum !== undefined) assert.ok((mine.minimum ?? -Infinity) >= schema.minimum, name);
        if (schema.maxLength !== undefined && !mine.items)
          assert.ok((mine.maxLength ?? Infinity) <= schema.maxLength, name);
        for (const word of mine.items?.enum ?? []) assert.match(word, new RegExp(schema.pattern ?? '$^'), name);
      }
    });
  }

  it('are those of docs/mcp.md, with their inputs', () => {
    const page = readFileSync(path.join(root, 'docs/mcp.md'), 'utf8');
    for (const { name, path: at, input } of QUESTIONS) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
      const inputs = Object.keys(input.shape).map((each) => `\`${each}\``);
      assert.deepEqual(row.split(' | ').slice(2), [`\`${at}\``, `${inputs.join(', ')} |`.trimStart()], name);
    }
  });

  it('ask for no more of a list without an offset than the service gives', () => {
    for (const question of QUESTIONS.filter(({ list }) => list?.paging === 'limit')) {
      const { properties = {} } = inputOf(question);
      const most = (properties.limit?.maximum ?? Infinity) + (properties.offset?.maximum ?? Infinity);
      const limit = parametersOf(question).find(({ name }) => name === 'limit');
      assert.ok(most <= (limit?.schema.maximum ?? 0), question.name);
      const { query } = requestOf(question, { limit: 10, offset: 20 });
      assert.deepEqual(query, { limit: 30 });
    }
  });
});
