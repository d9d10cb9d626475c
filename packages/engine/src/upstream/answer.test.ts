import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChatDelta } from '@strata/inference';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { EngineError } from '../engine.ts';
import { delta, ends, says } from '../test/scripted.ts';
import { endOf, failedAs, noUsage, refusedAs, textOf } from '../test/upstream-harness.ts';
import { AnswerDeltas, type AnswerOptions } from './answer.ts';
import type { StreamEvent } from './response.ts';

/** The events before an error arrive together. */
async function* eventsOf(chunks: readonly unknown[]): AsyncGenerator<readonly StreamEvent[]> {
  yield chunks.flatMap((chunk) => {
    if (chunk instanceof Error) return [];
    const isEvent = typeof chunk === 'object' && chunk && 'data' in chunk;
    const data = typeof chunk === 'string' ? chunk : JSON.stringify(chunk);
    return [isEvent ? (chunk as StreamEvent) : { type: '', data }];
  });
  for (const chunk of chunks) if (chunk instanceof Error) throw chunk;
}

/** Reads chunks, texts of events, events, and errors of the connection. Generated ids are `made_1` and so on. */
async function* answering(chunks: readonly unknown[], options: Partial<AnswerOptions> = {}): AsyncGenerator<ChatDelta> {
  let ids = 0;
  const newCallId = () => `made_${++ids}`;
  const defaults = { stops: [], topLogprobs: undefined, isCallForced: false, usage: noUsage(), secret: undefined };
  const deltas = new AnswerDeltas(eventsOf(chunks), { ...defaults, newCallId, ...options });
  while (!deltas.isEnded) yield* await deltas.next();
}
const answer = (...asked: Parameters<typeof answering>) => Array.fromAsync(answering(...asked));

const hidden = [{ role: 'assistant', content: null }, { reasoning_content: 'hm' }, { reasoning: 'hm' }];
const thoughts = hidden.map((each) => delta(each));

describe('an answer', () => {
  type Ending = readonly [name: string, chunks: readonly unknown[], reason: string, text?: string];
  const cut: Ending = ['a cut after the reason', [ends('length'), new Error('cut')], 'length'];
  for (const [name, chunks, reason, text = 'x'] of [...casesOf<readonly Ending[]>('engine', 'ends of answers'), cut])
    it(`ends with a reason of the contract after ${name}`, async () => {
      const deltas = await answer([says('x'), ...chunks]);
      assert.deepEqual([textOf(deltas), endOf(deltas)], [text, reason]);
    });

  for (const [name, chunks, message] of [
    ['ends in the middle', [says('x')], /prematurely/],
    ['never begins', [], /prematurely/],
    ['is aborted', [says('x'), ends('abort'), '[DONE]'], /aborted the answer/],
    ['breaks off', [says('x'), new EngineError('upstream-failed', 'cut')], /cut/],
  ] as const)
    it(`that ${name} is an error`, () => assert.rejects(answer(chunks), failedAs('upstream-failed', message)));

  it('never shows a stop string, and ends where one begins', async () => {
    const usage = noUsage();
    const chunks = [says('one E'), says('N'), says('D two'), says('three'), ends('length'), '[DONE]'];
    const deltas = await answer(chunks, { stops: ['END'], usage });
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['one ', 'stop']);
    assert.equal(usage.completionTokens, 3, 'what was read');
    assert.equal(textOf(await answer([says('the E'), says('N'), ends('stop')], { stops: ['END'] })), 'the EN');
  });

  // What a server reports is proved in upstream.test.ts.
  it('has as its usage the number of chunks with content where the server reports none', async () => {
    const usage = noUsage();
    const empty = delta({ role: 'assistant', content: '' });
    await answer([empty, delta({ reasoning_content: 'x' }), says('a'), ends('stop')], { usage });
    assert.deepEqual(usage, { promptTokens: 0, completionTokens: 2, cachedTokens: 0, reasoningTokens: 1 });
    const counted = { prompt_tokens: 2, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } };
    await answer([says('a'), ends('stop'), { choices: [], usage: counted }, '[DONE]'], { usage });
    assert.equal(usage.cachedTokens, 2, 'a part of the prompt');
  });
});

const a = { token: 'a', logprob: -1, bytes: [97] };
const b = { token: 'b', logprob: -2, bytes: [98] };
const content = [{ ...a, top_logprobs: [a, b] }];
const firstOf = async (chunk: object, options = {}) => {
  const [, text] = await answer([chunk, ends('stop')], options);
  assert.ok(text?.kind === 'text');
  return text;
};

it('log-probabilities come with the text, with as many alternatives of each token as were asked for', async () => {
  const chunk = delta({ content: 'a' }, { logprobs: { content } });
  for (const [topLogprobs, ...top_logprobs] of [[1, a], [0]] as const) {
    const logprobs = [{ ...a, top_logprobs }];
    assert.deepEqual(await firstOf(chunk, { topLogprobs }), { kind: 'text', text: 'a', logprobs });
  }
  assert.deepEqual(await firstOf(chunk), { kind: 'text', text: 'a' });
});

it('log-probabilities are kept until their text arrives', async () => {
  const [held, next] = ['', 'é'].map((text) => delta({ content: text }, { logprobs: { content } }));
  const [, text] = await answer([held, next, ends('stop')], { topLogprobs: 0 });
  assert.equal(text?.kind === 'text' && text.logprobs?.length, 2);
});

it('log-probabilities without bytes get those of their token', async () => {
  const bare = { content: [{ token: 'é', logprob: -1, bytes: null, top_logprobs: [] }] };
  const { logprobs } = await firstOf(delta({ content: 'é' }, { logprobs: bare }), { topLogprobs: 0 });
  assert.deepEqual(logprobs?.[0]?.bytes, [0xc3, 0xa9]);
});

it('log-probabilities of plain text come as lists', async () => {
  const lists = { tokens: ['a', 'b'], token_logprobs: [null, -2], top_logprobs: [null, { b: -2, c: -3 }] };
  const logprobs = { ...lists, text_offset: [0, 1] };
  assert.deepEqual((await firstOf({ choices: [{ text: 'ab', logprobs }] }, { topLogprobs: 1 })).logprobs, [
    { ...a, logprob: 0, top_logprobs: [] },
    { ...b, top_logprobs: [b] },
  ]);
});

it('log-probabilities without any text are an error in the end', async () => {
  const chunk = (count: number) => delta({ content: '' }, { logprobs: { content: Array(count).fill(content[0]) } });
  for (const chunks of [Array(5).fill(chunk(1_000)), [chunk(400_000)]])
    await assert.rejects(answer(chunks, { topLogprobs: 0 }), failedAs('upstream-failed', /without text/));
});

for (const chunk of casesOf<unknown[]>('engine', 'invalid chunks'))
  it(`an invalid chunk ends the answer with an error: ${JSON.stringify(chunk)}`, () =>
    assert.rejects(answer([says('x'), chunk, ends('stop')]), failedAs('upstream-failed', /invalid chunk/)));

it('an invalid chunk is reported by the path of its error, without its values', async () => {
  const message = /^(?!.*secret).*choices\.0\.delta\.content/s;
  await assert.rejects(answer([{ choices: [{ delta: { content: { secret: 1 } } }] }]), { message });
});

it('an invalid chunk is not one with unknown fields', async () => {
  const choice = { ...says('x').choices[0], token_ids: [1] };
  const chunk = { timings: { a: 1 }, error: null, choices: [choice] };
  assert.equal(textOf(await answer([{}, chunk, { type: 'ping' }, ends('stop')])), 'x');
});

for (const [refusal, event] of casesOf<[Parameters<typeof refusedAs>[0] | null, object][]>('engine', 'error events'))
  it(`an error in a stream is reported after ${JSON.stringify(event)}`, () => {
    const expected = refusal === null ? failedAs('upstream-failed') : refusedAs(refusal);
    return assert.rejects(answer([says('x'), event, '[DONE]']), expected);
  });

it('an error event that is not JSON has the status 500', () => {
  const event = { type: 'error', data: 'sorry' };
  return assert.rejects(answer([says('x'), event, '[DONE]']), failedAs('upstream-failed', /status 500/));
});

/** A piece of a call as `index id name arguments`: `-` is missing, `~` is empty. */
function called(piece: string) {
  const [index, id, name, args] = piece.split(' ').map((each) => (each === '-' ? undefined : each.replace('~', '')));
  const fields = { id, type: 'function', function: { name, arguments: args } };
  return delta({ tool_calls: [index === undefined ? fields : { index: Number(index), ...fields }] });
}
const answerOfCalls = (...pieces: string[]) => answer([...pieces.map(called), ends('tool_calls')]);

it('calls of tools are emitted once, then their arguments as they arrive, interleaved too', async () => {
  const events = await answerOfCalls('0 c0 find ~', '0 - - {"a"', '1 c1 listen [', '0 - - :1}', '1 - - ]');
  assert.deepEqual(events, casesOf<object[]>('engine', 'calls of tools'));
});

for (const [name, given, expected] of casesOf<[string, string[], string[]][]>('engine', 'pieces of calls'))
  it(`calls of tools ${name}`, async () => {
    // An answer with calls ends with them, whatever reason the server gives.
    const deltas = await answer([...given.map(called), ends('stop')]);
    const calls = deltas.flatMap((each) => (each.kind === 'call' ? [`${each.at} ${each.id} ${each.name}`] : []));
    assert.deepEqual([calls, endOf(deltas)], [expected, 'tool_calls']);
  });

const long = `0 - - ${'y'.repeat(256 * 1024)}`;
for (const [name, pieces, message] of [
  ['without a name', ['0 a - {}'], /without a name/],
  ['more than 128', Array.from({ length: 129 }, (_, at) => `${at} c${at} x {}`), /more than 128 calls/],
  ['with too long arguments', ['0 a x ~', long, long, long, long, long], /characters of arguments/],
] as const)
  it(`calls of tools are refused: ${name}`, () =>
    assert.rejects(answerOfCalls(...pieces), failedAs('upstream-failed', message)));

it('calls of tools are refused as a text without end is', () =>
  assert.rejects(answer(Array(20).fill(says('y'.repeat(1024 * 1024)))), failedAs('upstream-failed', /characters/)));

it('calls of tools that were forced come without text', async () => {
  const chunks = [...thoughts, says('Let me check.'), called('0 a find {}'), ends('stop')];
  const deltas = await answer(chunks, { isCallForced: true });
  const kinds = deltas.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['begin', 'reasoning', 'call', 'arguments', 'end']);
});

for (const [name, before, after, text] of [
  ['text', [says('a'), says('b')], [says('c'), says('d')], 'ab<think>hmhm</think>cd'],
  ['a call', [], [called('0 a find {}'), says('e')], '<think>hmhm</think>e'],
  ['a forced call', [], [says('no'), called('0 a find {}')], '<think>hmhm</think>'],
  ['its limit', [], [], '<think>hmhm'],
] as const)
  it(`reasoning that is kept is text in marks up to ${name}, and has no stop string`, async () => {
    const chunks = [...before, ...thoughts, ...after, ends('length')];
    for (const stops of [[], ['hm']]) {
      const deltas = await answer(chunks, { stops, keepsReasoning: true, isCallForced: name === 'a forced call' });
      assert.deepEqual([textOf(deltas), endOf(deltas)], [text, 'length']);
    }
  });

it('calls of tools that were forced and never came are refused before anything is emitted', async () => {
  const emitted: ChatDelta[] = [];
  const reading = async () => {
    for await (const each of answering([says('No.'), ends('stop')], { isCallForced: true })) emitted.push(each);
  };
  await assert.rejects(reading, refusedAs('unsupported_value', /did not call a tool/));
  assert.deepEqual(emitted, []);
  assert.equal(endOf(await answer([says('Let me thi'), ends('length')], { isCallForced: true })), 'length');
});
