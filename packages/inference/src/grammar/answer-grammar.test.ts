// What the grammar of an answer allows is what its reader finds: text, reasoning, and calls that fit their schema.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openedBy, outputFormat } from '../answer/format/output-format.ts';
import { OutputReader } from '../answer/format/output-reader.ts';
import type { ChatRequest } from '../request/request.ts';
import { Grammar, sampleGrammar } from '../test/sample-grammar.ts';
import { heldAnswer } from './answer-grammar.ts';
import { cachedRules } from './rule-cache.ts';

const object = (properties: object) => ({
  ...{ type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
});
const add = { name: 'add', parameters: object({ a: { type: 'integer', minimum: 3, maximum: 5 } }), strict: true };
const tools = [{ name: 'find', parameters: object({}) }, add];
const schema = { kind: 'schema', schema: object({ n: { type: 'boolean' } }), param: 'f' } as const;

type Asked = Pick<ChatRequest, 'format' | 'tools' | 'toolChoice' | 'allowsParallelCalls' | 'prefersStrict'>;
const auto: Asked = { format: { kind: 'text' }, tools, toolChoice: 'auto', allowsParallelCalls: true };
const required: Asked = { ...auto, toolChoice: 'required' };
const json: Asked = { ...auto, format: schema };
const answer: Asked = { ...json, tools: [], toolChoice: 'none' };

function hold(template: string, asked: Asked, text = '') {
  const format = outputFormat(template);
  const held = heldAnswer(asked, format, { opening: openedBy(text, format), text });
  assert.ok(held);
  const read = (given: string) => {
    const found = { text: '', reasoning: '', calls: [] as { name: string; given: string }[] };
    if (!held.format) return { ...found, text: given };
    const reader = new OutputReader(held.format, asked.tools, { opening: held.opening });
    for (const delta of [...reader.push(given), ...reader.end()])
      if (delta.kind === 'call') found.calls[delta.at] = { name: delta.name, given: '' };
      else if (delta.kind === 'arguments') (found.calls[delta.at] as { given: string }).given += delta.text;
      else found[delta.kind] += delta.text;
    return found;
  };
  const grammar = new Grammar(held.grammar);
  return { read, accepts: (given: string) => grammar.accepts(given), samples: () => sampleGrammar(held.grammar, 12) };
}

const file = path.join(import.meta.dirname, '../../../../vectors/answers/calls.json');
type Vectors = Record<
  'families' | 'thoughts' | 'not_thoughts',
  readonly (readonly [template: string, end: string, text: string])[]
>;
const { families, thoughts, not_thoughts }: Vectors = JSON.parse(readFileSync(file, 'utf8'));

describe('the grammar of an answer', () => {
  for (const [template, end, call] of families) {
    const written = (name: string, given: string) => call.replace('NAME', name).replace('GIVEN', given);
    const isCalled = ({ calls }: { calls: readonly { name: string; given: string }[] }) =>
      calls.every(({ name, given }) => {
        const { a, ...rest } = JSON.parse(given);
        return Object.keys(rest).length === 0 && (name === 'find' ? a === undefined : [3, 4, 5].includes(a));
      });
    it(`of ${template} ${end} allows the calls that fit, and reads what it allows as calls`, () => {
      for (const asked of [auto, required]) {
        const { accepts, read, samples } = hold(template, asked, end);
        assert.ok(accepts(written('add', '{"a": 4}')));
        assert.deepEqual(read(written('add', '{"a": 4}')).calls, [{ name: 'add', given: '{"a": 4}' }]);
        for (const [name, given] of [['add', '{"a": 9}'] as const, ['add', '{}'] as const, ['sub', '{}'] as const])
          assert.ok(!accepts(written(name, given)), given);
        const all = samples().map(read);
        if (asked === required) assert.ok(all.every(isCalled) && all.every(({ calls }) => calls.length > 0));
        else
          for (const { calls } of all)
            for (const { name, given } of calls) if (name === 'add') assert.match(given, /[345]/);
      }
    });
    it(`of ${template} ${end} allows JSON, or a call`, () => {
      for (const asked of [json, answer]) {
        const { read, samples } = hold(template, asked, end);
        for (const sample of samples()) {
          const found = read(sample);
          assert.ok(isCalled(found), sample);
          if (found.calls.length === 0) assert.match(found.text.trim(), /^\{ ?"n": ?(true|false) ?\}$/, sample);
        }
      }
    });
  }
  it('lets a model reason before JSON, in the marks of its family, or go on where the prompt began to', () => {
    for (const [template, end, given] of thoughts) {
      const { accepts, read } = hold(template, answer, end);
      assert.ok(accepts(given), given);
      const { text, reasoning } = read(given);
      assert.deepEqual([text, reasoning !== ''], ['{"n": true}', given.includes('hm')]);
    }
    for (const [template, end, given] of not_thoughts) assert.ok(!hold(template, answer, end).accepts(given), given);
  });
  it('leaves text free but for calls, and JSON as it is', () => {
    const { accepts, read } = hold('<tool_call></tool_call>', auto);
    for (const each of ['', 'So {"a": 1} and <tool>', '{"name": "add", "arguments": {}}']) {
      assert.ok(accepts(each));
      assert.deepEqual(read(each), { text: each, reasoning: '', calls: [] });
    }
    assert.ok(!accepts('<tool_call>no'));
    const marks = '{"n": "<think>[THINK]<tool_call>"}';
    assert.equal(hold('[THINK]<tool_call>', json).read(marks).text, marks);
  });
  it('allows one call of a named tool, and a bounded number without a name', () => {
    const call = '<tool_call>{"name": "find", "arguments": {}}</tool_call>';
    const named: Asked = { ...auto, toolChoice: { mode: 'required', names: ['find'] } };
    const oneCall = { ...required, allowsParallelCalls: false };
    const choices = [[named, 1] as const, [oneCall, 1] as const, [required, 32] as const, [auto, 32] as const];
    for (const [asked, max] of choices) {
      const { accepts } = hold('<tool_call></tool_call>', asked);
      assert.deepEqual([accepts(call.repeat(max)), accepts(call.repeat(max + 1))], [true, false]);
    }
  });
  it('holds tools that do not say whether they are strict, where that is preferred and possible', () => {
    const { strict: _, ...unsaid } = add;
    const loose = { name: 'loose', parameters: { pattern: '(a)\\1' } };
    const asked = { ...auto, tools: [unsaid, { ...unsaid, name: 'free', strict: false }, loose] };
    const calls = ['add', 'free', 'loose'].map((name) => `<tool_call>{"name": "${name}", "arguments": {}}</tool_call>`);
    const { accepts } = hold('<tool_call></tool_call>', { ...asked, prefersStrict: true });
    assert.deepEqual(calls.map(accepts), [false, true, true]);
    const format = outputFormat('>>>');
    const end = { opening: openedBy('assistant\n>>>', format), text: 'assistant\n>>>' };
    assert.equal(heldAnswer({ ...asked, prefersStrict: true }, format, end), undefined, 'not refused');
    assert.equal(heldAnswer(asked, outputFormat('<tool_call></tool_call>'), { opening: '', text: '' }), undefined);
  });
  it('refuses what it cannot hold, with its path', () => {
    const loose = { name: 'f', parameters: { pattern: '(a)\\1' } };
    const at = (...list: object[]) => ({ ...auto, tools: list as typeof tools });
    hold('', at(add, loose));
    assert.throws(() => hold('', at(add, { ...loose, strict: true })), { param: 'tools[1].function.parameters' });
    assert.throws(() => hold('>>>', at(loose, add), 'assistant\n>>>'), { param: 'tools[1].function.strict' });
    const all = (parameters: (i: number) => object) =>
      at(...Array.from({ length: 9 }, (_, i) => ({ name: `f${i}`, parameters: parameters(i), strict: true })));
    const wide = (i: number) => object(Object.fromEntries(Array.from({ length: 900 }, (_, k) => [`p${i}-${k}`, {}])));
    assert.throws(() => hold('', all(wide)), { param: /^tools.[1-8]/, message: /together/ });
    // An automaton of thousands of states that has no text: it takes time, and has no rule.
    const none = { allOf: [{ pattern: '^[ab]*a[ab]{10}c$' }, { pattern: '^[ab]*b[ab]{7}d$' }] };
    const hard = (i: number) => object({ a: { type: 'string', anyOf: [{ const: `${i}` }, none] } });
    assert.throws(() => hold('', all(hard)), { param: /^tools.[1-8]/, message: /together/ });
    const only = { mode: 'required', names: ['f'] } as const;
    assert.throws(() => hold('', { ...at(add, loose), toolChoice: only }), { param: 'tools[1].function.parameters' });
  });
  it('keeps rules that it wrote, the last used of a bounded number', () => {
    let writes = 0;
    const rulesOf = (key: string) => {
      const rules = new Map<string, string>();
      const root = cachedRules(key, rules, (into) => {
        writes += 1;
        into.set('r', 'x'.repeat(100_000));
        return key;
      });
      assert.deepEqual([root, rules.size], [key, 1]);
    };
    for (let i = 0; i < 100; i += 1) for (const key of ['used', `other ${i}`]) rulesOf(key);
    assert.equal(writes, 101);
    rulesOf('other 0');
    assert.equal(writes, 102);
    const fail = () => {
      writes += 1;
      throw new Error('bad');
    };
    for (let i = 0; i < 2; i += 1) assert.throws(() => cachedRules('bad', new Map(), fail), /bad/);
    assert.equal(writes, 104);
  });
});
