import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fc, holds } from '../../../../../tests/support/property.ts';
import { casesOf } from '../../../../../tests/support/vectors.ts';
import type { CallableTool, OutputDelta } from './calls/call-writer.ts';
import { heldFormat } from './held-format.ts';
import { openedBy, outputFormat } from './output-format.ts';
import { OutputReader } from './output-reader.ts';

const tools = [{ name: 'find_domain' }, { name: 'add' }];
const UNKNOWN = outputFormat();
const call = '{"name": "find_domain", "arguments": {"domain": "example.com"}}';
type Found = { readonly name: string; readonly input: unknown };
const found: Found = { name: 'find_domain', input: { domain: 'example.com' } };
const added = (input: unknown): Found => ({ name: 'add', input });
/** A call of the second tool, with its input in this field. */
const add = (field: string, input: string) => `{"name":"add","${field}":${input}}`;

function gathered(deltas: readonly OutputDelta[]): { text: string; calls: Found[] } {
  let text = '';
  const calls: { name: string; given: string }[] = [];
  for (const delta of deltas) {
    if (delta.kind === 'text' || delta.kind === 'reasoning') text += delta.text;
    else if (delta.kind === 'call') calls[delta.at] = { name: delta.name, given: '' };
    else (calls[delta.at] as { given: string }).given += delta.text;
  }
  return { text, calls: calls.map(({ name, given }) => ({ name, input: JSON.parse(given) })) };
}

function read(pieces: readonly string[], max?: number, format = UNKNOWN, callable: readonly CallableTool[] = tools) {
  const reader = new OutputReader(format, callable, max === undefined ? {} : { max });
  return gathered([...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]);
}
const cut = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 8 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), text.length];
    return at.slice(1).map((end, i) => text.slice(at[i], end));
  });

describe('tool calls', () => {
  const mark = (text: string) => `<tool_call>${text}</tool_call>`;
  const file = path.join(import.meta.dirname, '../../../../../vectors/answers/calls.json');
  type Row = readonly [template: string, text: string, sent: string, calls: readonly Found[]];
  for (const [template, text, sent, calls] of JSON.parse(readFileSync(file, 'utf8')).outputs as readonly Row[]) {
    const format = outputFormat(template);
    it(`are found, or not, in ${text}, however it is split`, () =>
      holds(100, [cut(text)], (pieces) => assert.deepEqual(read(pieces, 9, format), { text: sent, calls })));
  }
  it('are emitted as they are written', () => {
    const reader = new OutputReader(UNKNOWN, tools);
    assert.deepEqual(reader.push('{"name": "add", "argum'), []);
    assert.deepEqual(reader.push('ents": {"a"'), [
      { kind: 'call', at: 0, name: 'add' },
      { kind: 'arguments', at: 0, text: '{"a"' },
    ]);
    assert.deepEqual(reader.push(': 1'), [{ kind: 'arguments', at: 0, text: ': 1' }]);
    assert.deepEqual(reader.push('}}'), [{ kind: 'arguments', at: 0, text: '}' }]);
  });
  it('above the maximum are dropped', () =>
    assert.deepEqual(read([`${call}\n${call}`], 1), { text: '', calls: [found] }));
  it('hold back no text that cannot be a call', () => {
    const reader = new OutputReader(UNKNOWN, tools);
    const texts = ['Hello ', '<b>x', '<tool', 's>'].map((text) => gathered(reader.push(text)).text);
    assert.deepEqual(texts, ['Hello ', '<b>x', '', '<tools>']);
    assert.equal(gathered(new OutputReader(UNKNOWN, tools).push('{"answer": ')).text, '{"answer": ');
  });
  it('hold back a bounded amount of text', () => {
    const reader = new OutputReader(UNKNOWN, tools);
    const pieces = ['{"name":"', ...Array(300).fill('x'.repeat(1_000))];
    const text = pieces.map((piece) => gathered(reader.push(piece)).text).join('');
    assert.ok(text.length > 150_000);
    assert.equal(text.length + gathered(reader.end()).text.length, 300_009);
  });
  it('have texts of any length, and stay incomplete where they are broken off', () => {
    const python = (given: string) => {
      const reader = new OutputReader(outputFormat('<|tool_call_start|>'), tools);
      const deltas = [...reader.push(`<|tool_call_start|>[add(a=${given}<|tool_call_end|>ok`), ...reader.end()];
      return deltas.map((delta) => (delta.kind === 'call' ? '' : delta.text)).join('');
    };
    const long = 'x'.repeat(300_000);
    assert.deepEqual([python(`"${long}")]`), python('[1, 2')], [`{"a": "${long}"}ok`, '{"a": ok']);
  });
  it('that are not JSON are passed up to their mark', () => {
    const all = new OutputReader(UNKNOWN, tools).push(`${mark(add('arguments', `{"a": 'x'}`))}ok`);
    assert.deepEqual(gathered(all.slice(2)).text, 'ok');
  });
  it('take time that is linear in hostile text and schemas', () => {
    const start = performance.now();
    const xlam = outputFormat('[{"name": "tool_call_name"');
    const checked = outputFormat('<function name=');
    for (const [format, text] of [
      [UNKNOWN, '{"name":'],
      [xlam, '[{"name":'],
      [xlam, '[{"name":"add","id":'],
      [checked, '<function name="add"><param name="a1">x'],
    ] as const)
      assert.ok(read([text.repeat(20_000)], 9, format).text.length >= text.length * 19_999);
    const deep = `<function name="add"><param name="a">${'['.repeat(60_000)}${']'.repeat(60_000)}</param></function>`;
    assert.equal(read([deep], 9, checked).text, deep);
    const twice = (name: string) => ({ anyOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }, {}] });
    const defs = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`d${i}`, twice(`d${i + 1}`)]));
    const properties = { a: twice('d0'), b: { allOf: [{ type: ['string', 'integer'] }, {}, { type: 'number' }] } };
    const xml = '<function name="add"><param name="a">x</param><param name="b">1</param></function>';
    const parameters = { $defs: { ...defs, d41: { type: 'string' } }, properties };
    assert.deepEqual(read([xml], 9, checked, [{ name: 'add', parameters }]).calls, [added({ a: 'x', b: 1 })]);
    // It takes half a second; quadratic readers take minutes.
    assert.ok(performance.now() - start < 10_000);
  });
  // Marks may be control tokens.
  type Kept = readonly [
    template: string,
    opening: string,
    pieces: readonly string[],
    of: 'text' | 'json',
    ...unknown[],
  ];
  for (const [template, opening, pieces, of, ...expected] of casesOf<readonly Kept[]>('inference', 'kept reasoning'))
    it(`are apart from kept reasoning, which is text with its marks: ${opening} ${pieces.join(' ')}`, () => {
      const family = outputFormat(template);
      const format = of === 'json' ? heldFormat(family, { hasCalls: false, isJson: true }) : family;
      const reader = new OutputReader(format, tools, { opening, keepsReasoning: true });
      let counted = '';
      const deltas = pieces.flatMap((piece) => {
        const wasReasoning = reader.isReasoning;
        const read = reader.push(piece, { isControl: /^<.*>$/.test(piece) });
        if (wasReasoning || reader.isReasoning) counted += piece;
        return read;
      });
      const { text, calls } = gathered([...deltas, ...reader.end()]);
      const reasoning = gathered(deltas.filter((delta) => delta.kind === 'text' && delta.isReasoning)).text;
      assert.deepEqual([reasoning, text.slice(reasoning.length), counted, calls], expected);
    });
  it('and reasoning are only opened by the end of a prompt', () => {
    const prompts = ['what does <think> do?<|im_end|>\n<|im_start|>assistant\n', 'assistant\n<think>\n'];
    const listed = prompts.map((prompt) => openedBy(prompt, UNKNOWN));
    assert.deepEqual(listed, ['', '<think>']);
  });
});
