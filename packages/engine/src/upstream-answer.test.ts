import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EngineError } from './engine.ts';
import { answer, answerOf, noUsage } from './test/read-answer.ts';
import { delta, ends, says, used } from './test/scripted-upstream.ts';
import { endOf, failedAs, refusedAs, textOf } from './test/upstream-harness.ts';

describe('an answer', () => {
  for (const [name, chunks, expected] of [
    ['stop', [ends('stop'), '[DONE]'], 'stop'],
    ['length', [ends('length'), '[DONE]'], 'length'],
    ['content_filter', [ends('content_filter'), '[DONE]'], 'content_filter'],
    ['an unknown reason', [ends('eos_token'), '[DONE]'], 'stop'],
    ['tool_calls without calls', [ends('tool_calls'), '[DONE]'], 'stop'],
    ['no reason', ['[DONE]'], 'stop'],
    ['a reason without [DONE]', [ends('length')], 'length'],
    ['a cut after the reason', [ends('length'), new Error('cut')], 'length'],
  ] as const)
    it(`ends with a reason of the contract after ${name}`, async () =>
      assert.equal(endOf(await answer([says('x'), ...chunks])), expected));

  for (const [name, chunks, message] of [
    ['ends in the middle', [says('x')], /in the middle/],
    ['never begins', [], /in the middle/],
    ['is aborted', [says('x'), ends('abort'), '[DONE]'], /gave the answer up/],
    ['breaks off', [says('x'), new EngineError('upstream-failed', 'cut')], /cut/],
  ] as const)
    it(`that ${name} is an error`, () => assert.rejects(answer(chunks), failedAs('upstream-failed', message)));

  it('shows no thoughts, and a refusal as text', async () => {
    const hidden = [{ role: 'assistant', content: null }, { reasoning_content: 'hm' }, { reasoning: 'hm' }];
    const deltas = [...hidden, { refusal: 'No.' }].map((each) => delta(each));
    assert.equal(textOf(await answer([...deltas, ends('stop')])), 'No.');
  });

  it('never shows a stop string, and ends where one begins', async () => {
    const usage = noUsage();
    const chunks = [says('one E'), says('N'), says('D two'), says('three'), ends('length'), '[DONE]'];
    const deltas = await answer(chunks, { stops: ['END'], usage });
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['one ', 'stop']);
    assert.equal(usage.completionTokens, 3, 'what was read');
    assert.equal(textOf(await answer([says('the E'), says('N'), ends('stop')], { stops: ['END'] })), 'the EN');
  });

  it('is that of the first choice', async () => {
    const other = { choices: [{ index: 1, delta: { content: 'no' }, finish_reason: 'length' }] };
    const deltas = await answer([other, says('yes'), ends('stop')]);
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['yes', 'stop']);
  });

  it('of plain text has the older format', async () => {
    const chunk = (text: string, finish_reason: string | null) => ({ choices: [{ index: 0, text, finish_reason }] });
    const deltas = await answer([chunk('a', null), chunk('b', 'length'), '[DONE]']);
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['ab', 'length']);
  });

  it('has the usage that the server reports, else the number of chunks with content', async () => {
    const reported = noUsage();
    await answer([says('a'), says('b'), ends('stop'), used(7, 2, 3), '[DONE]'], { usage: reported });
    assert.deepEqual(reported, { promptTokens: 7, completionTokens: 2, cachedTokens: 3 });
    const estimated = noUsage();
    const empty = delta({ role: 'assistant', content: '' });
    await answer([empty, delta({ reasoning_content: 'x' }), says('a'), ends('stop')], { usage: estimated });
    assert.deepEqual(estimated, { promptTokens: 0, completionTokens: 2, cachedTokens: 0 });
  });
});

describe('log-probabilities', () => {
  const a = { token: 'a', logprob: -1, bytes: [97] };
  const b = { token: 'b', logprob: -2, bytes: [98] };
  const content = [{ ...a, top_logprobs: [a, b] }];
  const firstOf = async (chunk: object, options = {}) => {
    const [, text] = await answer([chunk, ends('stop')], options);
    assert.ok(text?.kind === 'text');
    return text;
  };

  it('come with the text, with as many alternatives of each token as were asked for', async () => {
    const chunk = delta({ content: 'a' }, { logprobs: { content } });
    for (const [topLogprobs, ...top_logprobs] of [[1, a], [0]] as const) {
      const logprobs = [{ ...a, top_logprobs }];
      assert.deepEqual(await firstOf(chunk, { topLogprobs }), { kind: 'text', text: 'a', logprobs });
    }
    assert.deepEqual(await firstOf(chunk), { kind: 'text', text: 'a' });
  });

  it('are kept until their text arrives', async () => {
    const [held, next] = ['', 'é'].map((text) => delta({ content: text }, { logprobs: { content } }));
    const [, text] = await answer([held, next, ends('stop')], { topLogprobs: 0 });
    assert.equal(text?.kind === 'text' && text.logprobs?.length, 2);
  });

  it('without bytes get those of their token', async () => {
    const bare = { content: [{ token: 'é', logprob: -1, bytes: null, top_logprobs: [] }] };
    const { logprobs } = await firstOf(delta({ content: 'é' }, { logprobs: bare }), { topLogprobs: 0 });
    assert.deepEqual(logprobs?.[0]?.bytes, [0xc3, 0xa9]);
  });

  it('of plain text come as lists', async () => {
    const lists = { tokens: ['a', 'b'], token_logprobs: [null, -2], top_logprobs: [null, { b: -2, c: -3 }] };
    const logprobs = { ...lists, text_offset: [0, 1] };
    const text = await firstOf({ choices: [{ text: 'ab', logprobs }] }, { topLogprobs: 1 });
    assert.deepEqual(text.logprobs, [
      { ...a, logprob: 0, top_logprobs: [] },
      { ...b, top_logprobs: [b] },
    ]);
  });

  it('without any text are an error in the end', async () => {
    const chunk = delta({ content: '' }, { logprobs: { content: Array(1_000).fill(content[0]) } });
    await assert.rejects(answer(Array(5).fill(chunk), { topLogprobs: 0 }), failedAs('upstream-failed', /without text/));
  });
});

describe('an invalid chunk', () => {
  const call = (given: object) => ({ choices: [{ delta: { tool_calls: [given] } }] });
  for (const chunk of [
    ...['{"choices":[{"index":0,"del', '<html>', '"text"', '[]', 'null'],
    { choices: 'none' },
    { choices: [{ delta: { content: 5 } }] },
    call({ index: -1, function: { name: 'x', arguments: '' } }),
    call({ index: 0, function: { name: 'x', arguments: { a: 1 } } }),
    { choices: [{ delta: { content: 'x' }, logprobs: { content: [{ token: 'x' }] } }] },
    { choices: [], usage: { prompt_tokens: -1, completion_tokens: 2 } },
  ])
    it(`ends the answer with an error: ${JSON.stringify(chunk)}`, () =>
      assert.rejects(answer([says('x'), chunk, ends('stop')]), failedAs('upstream-failed', /cannot be read/)));

  it('is reported by the path of its error, without its values', async () => {
    const message = /^(?!.*secret).*choices\.0\.delta\.content/s;
    await assert.rejects(answer([{ choices: [{ delta: { content: { secret: 1 } } }] }]), { message });
  });

  it('is not one with unknown fields', async () => {
    const choice = { ...says('x').choices[0], token_ids: [1] };
    const chunk = { timings: { a: 1 }, error: null, choices: [choice] };
    assert.equal(textOf(await answer([{}, chunk, { type: 'ping' }, ends('stop')])), 'x');
  });
});

describe('an error in a stream', () => {
  const tooBig = { message: 'too big', type: 'BadRequestError', code: 400 };
  const tooLong = { message: 'it is 300', type: 'exceed_context_size_error', code: 400 };
  const failed = failedAs('upstream-failed');
  for (const [event, expected] of [
    [{ error: { message: 'out of memory', type: 'server_error', code: 500 } }, failed],
    [{ error: { message: 'something' } }, failed],
    [{ error: 'something' }, failed],
    [{ message: 'something', type: 'internal', code: 500 }, failed],
    [{ choices: [{ finish_reason: 'error' }], error: { message: 'gone', code: 502 } }, failed],
    [{ error: tooBig }, refusedAs('invalid_request')],
    [{ error: { message: 'no', type: 'invalid_request_error', code: null } }, refusedAs('invalid_request')],
    [{ error: tooLong }, refusedAs('context_length')],
  ] as const)
    it(`is reported after ${JSON.stringify(event)}`, () =>
      assert.rejects(answer([says('x'), event, '[DONE]']), expected));

  it('may be one by its name alone', async () => {
    async function* events() {
      yield { type: 'error', data: 'sorry' };
    }
    await assert.rejects(answerOf(events()).next(), failedAs('upstream-failed', /status 500/));
  });
});
