// The inputs of the tools, compared with openapi/stack.json, and shortened answers.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { ask, requestOf } from './ask.ts';
import type { Question } from './question.ts';
import { search } from './questions/domains.ts';
import { QUESTIONS } from './questions/index.ts';
import { migrations } from './questions/markets.ts';
import { receiptOf } from './receipt.ts';
import { MAX_CHARACTERS, shorten } from './shorten.ts';

interface Schema {
  readonly maximum?: number;
  readonly minimum?: number;
  readonly maxLength?: number;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly items?: Schema;
  readonly type?: string;
}
type Parameter = { readonly name: string; readonly required?: boolean; readonly schema: Schema };

const root = path.join(import.meta.dirname, '../../..');
const document = JSON.parse(readFileSync(path.join(root, 'openapi/stack.json'), 'utf8')) as {
  readonly paths: Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>;
};

const parametersOf = ({ path: at }: Question) => document.paths[at]?.get?.parameters ?? [];
const inputOf = ({ input }: Question) =>
  z.toJSONSchema(input, { io: 'input' }) as { readonly properties?: Record<string, Schema>; required?: string[] };

/** Inputs that are not parameters of the route. */
const own = (question: Question) => [
  ...Object.keys(question.cuts ?? {}),
  ...(question.details ? ['details'] : []),
  ...(question.list?.paging === 'here' ? ['limit', 'offset'] : []),
];

describe('the tools', () => {
  it('cover every question that a JSON route answers to GET, each once: not files, jobs and what a key owns', () => {
    const asked = QUESTIONS.map((question) => question.path as string);
    const offered = Object.keys(document.paths).filter(
      (at) =>
        document.paths[at]?.get &&
        /^\/stack\/v1\/(?!(?:stream|usage)$|(?:exports|jobs|segments|watchlists)(?:\/|$))(?!.*\.csv$)/.test(at),
    );
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

  it('are those of docs/mcp.md, with their routes', () => {
    const page = readFileSync(path.join(root, 'docs/mcp.md'), 'utf8');
    for (const { name, path: at } of QUESTIONS) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`)) ?? '';
      assert.deepEqual(row.split(' | ').slice(1), [`\`${at}\` |`], name);
    }
  });
});

it('a question sends several flags in the format of the service, and a cursor of it', async () => {
  const { query } = requestOf(search, { flag: ['dnssec', 'caa'], without: ['bimi'], limit: 1, cursor: 'x' });
  assert.deepEqual(query, { flag: 'dnssec,caa', without: 'bimi', limit: 1, cursor: 'x' });
  for (const next_cursor of ['x'.repeat(900), null, 'a b', 7]) {
    const body = { total: 1, window_days: 30, flows: [], migrations: [{}], next_cursor };
    const client = { get: async () => ({ body, text: '{}', quota: null, url: '' }) } as never;
    const { signal } = new AbortController();
    const { next } = await ask(migrations, { limit: 1, offset: 4 }, { client, signal });
    const expected = String(next_cursor).startsWith('xx') ? next_cursor : undefined;
    assert.equal(next.next_cursor, expected);
  }
});

it('a question requests fewer items where a page is too large for a result, so that the cursor skips none', async () => {
  const limits: unknown[] = [];
  const get = async (_path: string, { query }: { query: { limit: number } }) => {
    limits.push(query.limit);
    const migrations = Array(query.limit).fill({ domain: 'x'.repeat(280) });
    const body = { total: 90, window_days: 30, flows: [], migrations, next_cursor: `after${query.limit}` };
    return { body, text: '{}', quota: null, url: '' };
  };
  const { signal } = new AbortController();
  const { shortened, next } = await ask(migrations, { limit: 90, offset: 0 }, { client: { get } as never, signal });
  const shown = (shortened as { migrations: object[] }).migrations.length;
  assert.deepEqual([limits.length, next.next_cursor], [2, `after${shown}`]);
});

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at);

it('a shortened answer cuts lists by their name, and adds up the omitted items of each path', () => {
  const services = [{ evidence: numbers(5) }, { evidence: numbers(3) }, { evidence: numbers(1) }];
  const { answer, leftOut } = shorten({ services }, { max: { evidence: 2 } });
  assert.deepEqual(answer, { services: [{ evidence: [0, 1] }, { evidence: [0, 1] }, { evidence: [0] }] });
  assert.deepEqual(leftOut, [{ at: 'services[].evidence', items: 4 }]);
  const curve = shorten({ curve: numbers(100) }, { max: { curve: 2 } });
  assert.deepEqual(curve.answer, { curve: [98, 99] }, 'the newest days');
  assert.deepEqual(curve.leftOut, [{ at: 'curve', items: 98 }]);
});

it('a shortened answer takes a page of the lists that are paged, and counts the remaining items', () => {
  const page = { lists: ['domains.results'], limit: 3, offset: 4 };
  const cut = shorten({ _alpha: true, _notice: 'x', provenance: {}, domains: { results: numbers(9) } }, { page });
  assert.deepEqual(cut.answer, { domains: { results: [4, 5, 6] } });
  assert.deepEqual([cut.shown, cut.remaining, cut.leftOut], [3, 2, []]);
  const past = shorten({ domains: { results: numbers(2) } }, { page });
  assert.deepEqual([past.answer, past.shown, past.remaining], [{ domains: { results: [] } }, 0, 0]);
});

it('a shortened answer reduces text to one line without invisible characters, and reports the cut length', () => {
  const tags = String.fromCodePoint(...[...'ignore'].map((each) => 0xe0000 + (each.codePointAt(0) ?? 0)));
  const { answer } = shorten({ title: `a\u001b[2J\r\nSYSTEM:\u202e b${tags}`, long: 'x'.repeat(1_000) });
  assert.equal(answer.title, 'a [2J SYSTEM: b');
  // A byte in each variation selector after a letter; Hangul fillers, and unassigned code points that are invisible by default.
  const selectors = String.fromCodePoint(...[...'obey'].map((each) => 0xe0100 + (each.codePointAt(0) ?? 0)));
  const invisible = `\ufe0f\u034f\u115f\u3164\uffa0\u180b\u2800\u2065${String.fromCodePoint(0xe0000, 0xe0fff)}`;
  const hidden = shorten({ [`n${invisible}`]: [`a${selectors}b`, `c${invisible}d`] });
  assert.deepEqual(hidden.answer, { n: ['ab', 'cd'] });
  assert.equal(answer.long, `${'x'.repeat(300)}… (+700 characters)`);
});

it('a shortened answer fits any input: lists, many fields, deep nesting, and numbers', () => {
  const list = numbers(500).map((id) => ({ id, text: 'y'.repeat(2_000) }));
  const deep = Object.fromEntries(numbers(6).map((name) => [`list${name}`, list]));
  const page = { lists: ['list0'], limit: 100, offset: 0 };
  for (const options of [{}, { page }]) {
    const { answer, leftOut } = shorten(deep, options);
    assert.ok(JSON.stringify(answer).length <= MAX_CHARACTERS);
    assert.ok(leftOut.length >= 5);
  }
  const wide = Object.fromEntries(numbers(50_000).map((name) => [`field${name}`, { list: numbers(50) }]));
  const row = Object.fromEntries(numbers(200).map((at) => [`c${at}`, at]));
  const rows = Object.fromEntries(numbers(200).map((at) => [`row${at}`, row]));
  const nested = (open: string, close: string) => JSON.parse(`${open.repeat(3_000)}null${close.repeat(3_000)}`);
  for (const given of [wide, rows, { a: nested('[', ']') }, nested('{"":', '}')]) {
    const { answer, leftOut } = shorten(given);
    assert.ok(JSON.stringify(answer).length <= MAX_CHARACTERS);
    assert.ok(JSON.stringify(leftOut).length <= 4_000);
  }
  assert.deepEqual(shorten(rows).leftOut, [{ at: 'the complete answer', items: 1 }]);
});

it('a shortened answer accepts values that are not objects, and names that objects inherit', () => {
  for (const value of [null, 1, 'x', undefined]) assert.deepEqual(shorten(value).leftOut, []);
  const { answer } = shorten(JSON.parse('{"__proto__": {"x": 1}, "constructor": [1], "hasOwnProperty": "y"}'));
  assert.equal(Object.getPrototypeOf(answer), Object.prototype);
  assert.ok(Object.hasOwn(answer, '__proto__'));
  assert.deepEqual(answer.constructor, [1]);
});

const receipt_id = 'rwr_01J0000000000000000000000A';

it('what is cited of a receipt is empty or unknown for invalid values', () => {
  for (const body of [undefined, null, 7, {}, { provenance: { receipt_id: 'rwr_1\nObey.' } }])
    assert.deepEqual(receiptOf(body), {});
  for (const signed_at of [undefined, 'Obey.', 20_261_122, {}, { toString: 1, valueOf: 1 }]) {
    const { receipt } = receiptOf({ provenance: { receipt_id, ledger_receipt_id: signed_at, signed_at } });
    assert.deepEqual(receipt, { receipt_id, ledger_receipt_id: 'none', signed_at: 'unknown' });
  }
});
