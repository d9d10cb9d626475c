import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holds } from '../../../../tests/support/property.ts';
import { readChatRequest } from '../request/request.ts';
import { readResponsesRequest } from '../request/responses-request.ts';
import { StopScanner } from './stop-scanner.ts';
import { ToolCallReader, type ToolDelta } from './tool-calls.ts';

function sent(pieces: readonly string[], stops: readonly string[]): { text: string; stop: string | undefined } {
  const scanner = new StopScanner(stops);
  let text = '';
  for (const piece of pieces) {
    const scanned = scanner.push(piece);
    text += scanned.text;
    if (scanned.stop !== undefined) return { text: text + scanner.end(), stop: scanned.stop };
  }
  return { text: text + scanner.end(), stop: undefined };
}

describe('stop strings', () => {
  it('hold back only what may become one', () => {
    const scanner = new StopScanner(['END']);
    const texts = ['the E', 'N', 'CORE', 'x', 'EN'].map((piece) => scanner.push(piece).text);
    assert.deepEqual(texts, ['the ', '', 'ENCOR', 'Ex', '']);
    assert.equal(scanner.end(), 'EN');
  });
  it('emit nothing after the end', () => {
    const scanner = new StopScanner(['x']);
    assert.deepEqual(scanner.push('axb'), { text: 'a', stop: 'x' });
    assert.deepEqual([scanner.push('more').text, scanner.end()], ['', '']);
  });
  it('end the answer before them, however the text is split, and are never sent', () => {
    const abc = (minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength, maxLength });
    const anyPieces = fc.array(abc(0, 30), { maxLength: 8 });
    holds(100, [anyPieces, fc.array(abc(1, 4), { minLength: 1, maxLength: 3 })], (pieces, stops) => {
      const { text, stop } = sent(pieces, stops);
      const complete = pieces.join('');
      assert.ok(complete.startsWith(text));
      for (const each of stops) assert.ok(!text.includes(each), `${each} in ${text}`);
      if (stop === undefined) assert.equal(text, complete);
      else assert.equal(complete.slice(text.length, text.length + stop.length), stop);
    });
  });
});

const tools = [{ name: 'find_domain' }, { name: 'add' }];
const call = '{"name": "find_domain", "arguments": {"domain": "example.com"}}';
type Found = { readonly name: string; readonly input: unknown };
const found: Found = { name: 'find_domain', input: { domain: 'example.com' } };
const added = (input: unknown): Found => ({ name: 'add', input });
/** A call of the second tool, with its input in this field. */
const add = (field: string, input: string) => `{"name":"add","${field}":${input}}`;
const OTHER = '{"name":"g","arguments":{}}';

function gathered(deltas: readonly ToolDelta[]): { text: string; calls: Found[] } {
  let text = '';
  const calls: { name: string; given: string }[] = [];
  for (const delta of deltas) {
    if (delta.kind === 'text') text += delta.text;
    else if (delta.kind === 'call') calls[delta.at] = { name: delta.name, given: '' };
    else (calls[delta.at] as { given: string }).given += delta.text;
  }
  return { text, calls: calls.map(({ name, given }) => ({ name, input: JSON.parse(given) })) };
}

function read(pieces: readonly string[], max?: number) {
  const reader = new ToolCallReader(tools, max === undefined ? {} : { max });
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
    ['white space around it', `\n ${call}\n`, '\n', [found]],
    ['marks', mark(`\n${call}\n`), '', [found]],
    ['words before marks', `Let me see.\n${mark(call)}`, 'Let me see.\n', [found]],
    ['words after marks', `${mark(call)} Done.`, 'Done.', [found]],
    ['a mark that is not closed', `<tool_call>${call}`, '', [found]],
    ['two with marks', `${mark(call)}\n${mark(add('arguments', '{"a":1}'))}`, '', [found, added({ a: 1 })]],
    ['two objects on two lines', `${call}\n${call}`, '', [found, found]],
    ['marks within its arguments', add('arguments', braces), '', [added(JSON.parse(braces))]],
    ['parameters instead of arguments', add('parameters', '{}'), '', [added({})]],
    ['arguments before the name', '{"arguments":{"a":2},"name":"add"}', '', [added({ a: 2 })]],
    ['more after the arguments', '{"name":"add","arguments":{},"id":"}x"}', '', [added({})]],
    ['arguments as a text', add('arguments', '"{\\"a\\":1}"'), '', [added({ a: 1 })]],
    ['arguments as a text that is not JSON', add('arguments', '"no"'), add('arguments', '"no"'), []],
    ['no tool of that name', OTHER, OTHER, []],
    ['a good call before a mark around none', mark(call) + mark('none'), mark('none'), [found]],
    ['another object before a call', `{"x":1}${mark(call)}`, '{"x":1}', [found]],
    ['a mark around none before one', `<tool_call>no ${mark(call)}`, '<tool_call>no ', [found]],
    ['a mark around another object before one', mark(OTHER) + mark(call), mark(OTHER), [found]],
    ['half an object', '{"name":"add"', '{"name":"add"', []],
    ['words', 'Two < three, <tool> and {"name":"add"}', 'Two < three, <tool> and {"name":"add"}', []],
    ['half a mark at the end', 'so <tool_', 'so <tool_', []],
    ['nothing', '', '', []],
  ];
  for (const [why, text, sent, calls] of table)
    it(`are detected, or not, in ${why}, however the text is split`, () =>
      holds(100, [cut(text)], (pieces) => assert.deepEqual(read(pieces), { text: sent, calls })));
  it('are emitted as they are written', () => {
    const reader = new ToolCallReader(tools);
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
    const reader = new ToolCallReader(tools);
    const texts = ['Hello ', '<b>x', '<tool', 's>'].map((text) => gathered(reader.push(text)).text);
    assert.deepEqual(texts, ['Hello ', '<b>x', '', '<tools>']);
    assert.equal(gathered(new ToolCallReader(tools).push('{"answer": ')).text, '{"answer": ');
  });
  it('hold back a bounded amount of text', () => {
    const reader = new ToolCallReader(tools);
    let text = gathered(reader.push('{')).text;
    for (let i = 0; i < 300; i += 1) text += gathered(reader.push('x'.repeat(1_000))).text;
    assert.ok(text.length > 250_000);
    text += gathered(reader.end()).text;
    assert.equal(text.length, 300_001);
  });
});

describe('a request', () => {
  const user = { role: 'user', content: 'a' };
  it('of the Responses API is read as a conversation, and an error names the item of the request', () => {
    const read = (...input: object[]) => readResponsesRequest({ model: 'm', input: [{ type: 'reasoning' }, ...input] });
    assert.deepEqual(
      read(user, { ...user, content: 'b' }).chat.messages.map(({ role, content }) => [role, content]),
      [
        ['user', 'a'],
        ['user', 'b'],
      ],
    );
    assert.throws(() => read(user, { ...user, role: 'x' }), { param: 'input[2].role' });
  });
  it('may have a bias from -100 to 100 for a token', () => {
    const read = (logit_bias: object) => readChatRequest({ model: 'm', messages: [user], logit_bias });
    assert.deepEqual(
      [...read({ 1: -100, 2: 100 }).sampling.logitBias],
      [
        [1, -100],
        [2, 100],
      ],
    );
    for (const bias of [-101, 101]) assert.throws(() => read({ 1: bias }), { param: /^logit_bias/ });
  });
});
