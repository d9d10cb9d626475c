import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type FoundCall, ToolCallReader } from './tool-calls.ts';

const tools = [{ name: 'look_up' }, { name: 'add' }];
const call = '{"name": "look_up", "arguments": {"domain": "example.com"}}';
const found: FoundCall = { name: 'look_up', arguments: '{"domain":"example.com"}' };

function read(pieces: readonly string[]): { text: string; calls: readonly FoundCall[] } {
  const reader = new ToolCallReader(tools);
  const passed = pieces.map((piece) => reader.push(piece)).join('');
  const { text, calls } = reader.end();
  return { text: passed + text, calls };
}
/** A text in pieces of random length. */
const cut = (text: string) =>
  fc.array(fc.nat(text.length), { maxLength: 8 }).map((places) => {
    const at = [0, ...places.sort((a, b) => a - b), text.length];
    return at.slice(1).map((end, i) => text.slice(at[i], end));
  });

describe('calls of tools', () => {
  const table: [why: string, text: string, told: string, calls: readonly FoundCall[]][] = [
    ['an object alone', call, '', [found]],
    ['white space around it', `\n ${call}\n`, '', [found]],
    ['marks', `<tool_call>\n${call}\n</tool_call>`, '', [found]],
    ['words before marks', `Let me see.\n<tool_call>${call}</tool_call>`, 'Let me see.\n', [found]],
    [
      'two with marks',
      `<tool_call>${call}</tool_call>\n<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>`,
      '',
      [found, { name: 'add', arguments: '{"a":1}' }],
    ],
    ['parameters instead of arguments', '{"name":"add","parameters":{}}', '', [{ name: 'add', arguments: '{}' }]],
    ['no tool of that name', '{"name":"other","arguments":{}}', '{"name":"other","arguments":{}}', []],
    ['half an object', '{"name":"add"', '{"name":"add"', []],
    ['words', 'Two < three, <tool> and {"name":"add"}', 'Two < three, <tool> and {"name":"add"}', []],
    ['half a mark at the end', 'so <tool_', 'so <tool_', []],
    ['nothing', '', '', []],
  ];
  for (const [why, text, told, calls] of table) {
    it(`are found, or not, in ${why}, however it comes`, () => {
      fc.assert(fc.property(cut(text), (pieces) => assert.deepEqual(read(pieces), { text: told, calls })));
    });
  }

  it('hold back no text that cannot be one', () => {
    const reader = new ToolCallReader(tools);
    assert.equal(reader.push('Hello '), 'Hello ');
    assert.equal(reader.push('<b>x'), '<b>x');
    assert.equal(reader.push('<tool'), '');
    assert.equal(reader.push('s>'), '<tools>');
  });

  it('do not hold back without end', () => {
    const reader = new ToolCallReader(tools);
    let text = reader.push('{');
    for (let i = 0; i < 300; i += 1) text += reader.push('x'.repeat(1_000));
    assert.equal(text.length + reader.end().text.length, 300_001);
    assert.ok(text.length > 250_000);
  });
});
