import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompletionError } from '@strata/inference';
import { EngineError } from './engine.ts';
import { answer, answerOf, endOf, noUsage } from './test/read-answer.ts';
import { delta, ends, says, used } from './test/scripted-upstream.ts';
import { failedAs, textOf } from './test/upstream-harness.ts';

describe('an answer', () => {
  it('begins, says its text and ends with its reason', async () => {
    const deltas = await answer([
      delta({ role: 'assistant', content: null }),
      says('Hel'),
      says('lo'),
      ends('stop'),
      '[DONE]',
    ]);
    assert.deepEqual(deltas, [
      { kind: 'begin' },
      { kind: 'text', text: 'Hel' },
      { kind: 'text', text: 'lo' },
      { kind: 'end', reason: 'stop' },
    ]);
  });

  it('ends with reasons of the contract alone', async () => {
    const reasons = {
      stop: 'stop',
      length: 'length',
      content_filter: 'content_filter',
      eos_token: 'stop',
      tool_calls: 'stop',
    };
    for (const [told, expected] of Object.entries(reasons))
      assert.equal(endOf(await answer([says('x'), ends(told), '[DONE]'])), expected, told);
    assert.equal(endOf(await answer([says('x'), '[DONE]'])), 'stop');
    assert.equal(endOf(await answer([says('x'), ends('length')])), 'length', 'nobody said [DONE]');
    assert.equal(endOf(await answer([says('x'), ends('length'), new Error('cut')])), 'length', 'cut after the reason');
  });

  it('that ends without saying so is an error', async () => {
    await assert.rejects(answer([says('x')]), failedAs('upstream-failed', /in the middle/));
    await assert.rejects(answer([]), failedAs('upstream-failed', /in the middle/));
    await assert.rejects(
      answer([says('x'), ends('abort'), '[DONE]']),
      failedAs('upstream-failed', /gave the answer up/),
    );
    await assert.rejects(
      answer([says('x'), new EngineError('upstream-failed', 'cut')]),
      failedAs('upstream-failed', /cut/),
    );
  });

  it('shows no thoughts, and what was refused as text', async () => {
    const deltas = await answer([
      delta({ reasoning_content: 'hm' }),
      delta({ reasoning: 'hm' }),
      delta({ refusal: 'No.' }),
      ends('stop'),
    ]);
    assert.equal(textOf(deltas), 'No.');
  });

  it('never shows a stop string, and ends where one begins', async () => {
    const usage = noUsage();
    const deltas = await answer([says('one E'), says('N'), says('D two'), says('three'), ends('length'), '[DONE]'], {
      stops: ['END'],
      usage,
    });
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['one ', 'stop']);
    assert.equal(usage.completionTokens, 3, 'what was read');
    assert.equal(textOf(await answer([says('the E'), says('N'), ends('stop')], { stops: ['END'] })), 'the EN');
  });

  it('is of the first choice, whatever others come', async () => {
    const other = { choices: [{ index: 1, delta: { content: 'no' }, finish_reason: 'length' }] };
    const deltas = await answer([other, says('yes'), ends('stop')]);
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['yes', 'stop']);
  });

  it('of plain text comes in the older shape', async () => {
    const chunk = (text: string, finish_reason: string | null) => ({ choices: [{ index: 0, text, finish_reason }] });
    const deltas = await answer([chunk('a', null), chunk('b', 'length'), '[DONE]']);
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['ab', 'length']);
  });
});

describe('the usage of an answer', () => {
  it('is what the server tells', async () => {
    const usage = noUsage();
    await answer([says('a'), says('b'), ends('stop'), used(7, 2, 3), '[DONE]'], { usage });
    assert.deepEqual(usage, { promptTokens: 7, completionTokens: 2, cachedTokens: 3 });
  });

  it('is an estimate where it tells none: chunks that say something, shown or not', async () => {
    const usage = noUsage();
    const chunks = [
      delta({ role: 'assistant', content: '' }),
      delta({ reasoning_content: 'x' }),
      says('a'),
      ends('stop'),
    ];
    await answer(chunks, { usage });
    assert.deepEqual(usage, { promptTokens: 0, completionTokens: 2, cachedTokens: 0 });
  });
});

describe('log-probabilities', () => {
  const top = [
    { token: 'a', logprob: -1, bytes: [97] },
    { token: 'b', logprob: -2, bytes: [98] },
  ];
  const content = [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: top }];

  it('come with the text, as many beside each token as were asked for', async () => {
    const chunks = [delta({ content: 'a' }, { logprobs: { content } }), ends('stop')];
    const one = {
      kind: 'text',
      text: 'a',
      logprobs: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [top[0]] }],
    };
    assert.deepEqual((await answer(chunks, { topLogprobs: 1 }))[1], one);
    assert.deepEqual((await answer(chunks, { topLogprobs: 0 }))[1], {
      ...one,
      logprobs: [{ ...content[0], top_logprobs: [] }],
    });
    assert.deepEqual((await answer(chunks))[1], { kind: 'text', text: 'a' });
  });

  it('wait for the text that they are of', async () => {
    const held = delta({ content: '' }, { logprobs: { content } });
    const [, text] = await answer([held, delta({ content: 'é' }, { logprobs: { content } }), ends('stop')], {
      topLogprobs: 0,
    });
    assert.equal(text?.kind === 'text' && text.logprobs?.length, 2);
  });

  it('without bytes are given those of their token', async () => {
    const bare = { content: [{ token: 'é', logprob: -1, bytes: null, top_logprobs: [] }] };
    const [, text] = await answer([delta({ content: 'é' }, { logprobs: bare }), ends('stop')], { topLogprobs: 0 });
    assert.deepEqual(text?.kind === 'text' && text.logprobs?.[0]?.bytes, [0xc3, 0xa9]);
  });

  it('of plain text come as lists', async () => {
    const logprobs = {
      tokens: ['a', 'b'],
      token_logprobs: [null, -2],
      top_logprobs: [null, { b: -2, c: -3 }],
      text_offset: [0, 1],
    };
    const [, text] = await answer([{ choices: [{ text: 'ab', logprobs, finish_reason: 'stop' }] }], { topLogprobs: 1 });
    assert.deepEqual(text?.kind === 'text' && text.logprobs, [
      { token: 'a', logprob: 0, bytes: [97], top_logprobs: [] },
      { token: 'b', logprob: -2, bytes: [98], top_logprobs: [{ token: 'b', logprob: -2, bytes: [98] }] },
    ]);
  });

  it('without any text are an error in the end', async () => {
    const chunk = delta({ content: '' }, { logprobs: { content: Array(1_000).fill(content[0]) } });
    await assert.rejects(answer(Array(5).fill(chunk), { topLogprobs: 0 }), failedAs('upstream-failed', /without text/));
  });
});

describe('what is no chunk', () => {
  it('ends the answer with an error', async () => {
    const broken: unknown[] = [
      '{"choices":[{"index":0,"del',
      '<html>',
      '"text"',
      '[]',
      'null',
      { choices: 'none' },
      { choices: [{ delta: { content: 5 } }] },
      { choices: [{ delta: { tool_calls: [{ index: -1, function: { name: 'x', arguments: '' } }] } }] },
      { choices: [{ delta: { tool_calls: [{ index: 0, function: { name: 'x', arguments: { a: 1 } } }] } }] },
      { choices: [{ delta: { content: 'x' }, logprobs: { content: [{ token: 'x' }] } }] },
      { choices: [], usage: { prompt_tokens: -1, completion_tokens: 2 } },
    ];
    for (const chunk of broken)
      await assert.rejects(
        answer([says('x'), chunk, ends('stop')]),
        failedAs('upstream-failed', /cannot be read/),
        JSON.stringify(chunk),
      );
  });

  it('says where it is broken, and nothing of what it holds', async () => {
    await assert.rejects(answer([{ choices: [{ delta: { content: { secret: 1 } } }] }]), (error: EngineError) => {
      assert.match(error.message, /choices\.0\.delta\.content/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });

  it('is anything but fields that nobody knows', async () => {
    const chunk = {
      ...says('x'),
      timings: { a: 1 },
      error: null,
      choices: [{ ...says('x').choices[0], token_ids: [1] }],
    };
    assert.equal(textOf(await answer([{}, chunk, { type: 'ping' }, ends('stop')])), 'x');
  });
});

describe('an error in a stream', () => {
  it("is the server's failure, unless it says that it is the caller's fault", async () => {
    const cases: [unknown, string][] = [
      [{ error: { message: 'out of memory', type: 'server_error', code: 500 } }, 'upstream-failed'],
      [{ error: { message: 'something' } }, 'upstream-failed'],
      [{ error: 'something' }, 'upstream-failed'],
      [{ message: 'something', type: 'internal', code: 500 }, 'upstream-failed'],
      [{ choices: [{ finish_reason: 'error' }], error: { message: 'gone', code: 502 } }, 'upstream-failed'],
      [{ error: { message: 'too big', type: 'BadRequestError', code: 400 } }, 'invalid_request'],
      [{ error: { message: 'no', type: 'invalid_request_error', code: null } }, 'invalid_request'],
      [{ error: { message: 'it is 300', type: 'exceed_context_size_error', code: 400 } }, 'context_length'],
    ];
    for (const [event, expected] of cases)
      await assert.rejects(
        answer([says('x'), event, '[DONE]']),
        (error) =>
          (error instanceof EngineError && error.code === expected) ||
          (error instanceof CompletionError && error.kind === expected),
        JSON.stringify(event),
      );
  });

  it('may be one by its name alone', async () => {
    async function* events() {
      yield { type: 'error', data: 'sorry' };
    }
    await assert.rejects(answerOf(events()).next(), failedAs('upstream-failed', /status 500/));
  });
});
