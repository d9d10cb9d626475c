import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../../tests/support/property.ts';
import type { OutputDelta } from './calls/call-writer.ts';
import { outputFormat } from './output-format.ts';
import { OutputReader } from './output-reader.ts';

const tools = [{ name: 'find_domain' }, { name: 'add' }];
const UNKNOWN = outputFormat();
const call = '{"name": "find_domain", "arguments": {"domain": "example.com"}}';
type Found = { readonly name: string; readonly input: unknown };
const found: Found = { name: 'find_domain', input: { domain: 'example.com' } };
const added = (input: unknown): Found => ({ name: 'add', input });
/** A call of the second tool, with its input in this field. */
const add = (field: string, input: string) => `{"name":"add","${field}":${input}}`;
const OTHER = '{"name":"g","arguments":{}}';

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

function read(pieces: readonly string[], max?: number) {
  const reader = new OutputReader(UNKNOWN, tools, max === undefined ? {} : { max });
  return gathered([...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]);
}
const cut = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 8 }).map((cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), text.length];
    return at.slice(1).map((end, i) => text.slice(at[i], end));
  });

describe('tool calls', () => {
  const mark = (text: string) => `<tool_call>${text}</tool_call>`;
  const braces = '{"a":"</tool_call><tool_call>{\\"","b":[{}]}';
  const table: [why: string, text: string, sent: string, calls: readonly Found[]][] = [
    ['an object alone', call, '', [found]],
    ['white space around it', `\n ${call}\n`, '', [found]],
    ['marks', mark(`\n${call}\n`), '', [found]],
    ['words before marks', `Let me see.\n${mark(call)}`, 'Let me see.\n', [found]],
    ['words after marks', `${mark(call)} Done.`, 'Done.', [found]],
    ['a mark that is not closed', `<tool_call>${call}`, '', [found]],
    ['marks within its arguments', add('arguments', braces), '', [added(JSON.parse(braces))]],
    ['arguments before the name', '{"arguments":{"a":2},"name":"add"}', '', [added({ a: 2 })]],
    ['more after the arguments', '{"name":"add","arguments":{},"id":"}x"}', '', [added({})]],
    ['arguments as a text', add('arguments', '"{\\"a\\":1}"'), '', [added({ a: 1 })]],
    ['arguments as a text that is not JSON', add('arguments', '"no"'), add('arguments', '"no"'), []],
    ['no tool of that name', OTHER, OTHER, []],
    ['another object before a call', `{"x":1}${mark(call)}`, '{"x":1}', [found]],
    ['a mark around none before one', `<tool_call>no ${mark(call)}`, '<tool_call>no ', [found]],
    ['half an object', '{"name":"add"', '{"name":"add"', []],
    ['words', 'Two < three, <tool> and {"name":"add"}', 'Two < three, <tool> and {"name":"add"}', []],
    ['half a mark at the end', 'so <tool_', 'so <tool_', []],
  ];
  for (const [why, text, sent, calls] of table)
    it(`are detected, or not, in ${why}, however the text is split`, () =>
      holds(100, [cut(text)], (pieces) => assert.deepEqual(read(pieces), { text: sent, calls })));
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
});
