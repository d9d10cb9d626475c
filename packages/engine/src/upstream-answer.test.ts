import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ChatDelta, CompletionError } from '@strata/inference';
import { EngineError } from './engine.ts';
import { delta, ends, says, used } from './test/scripted-upstream.ts';
import { type AnswerOptions, answerDeltas, type UpstreamUsage } from './upstream-answer.ts';

const noUsage = (): UpstreamUsage => ({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 });

async function* eventsOf(chunks: readonly unknown[]) {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield { type: '', data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) };
  }
}

async function answer(chunks: readonly unknown[], options: Partial<AnswerOptions> = {}): Promise<ChatDelta[]> {
  let ids = 0;
  const newCallId = () => `made_${++ids}`;
  const defaults = { stops: [], topLogprobs: undefined, isCallForced: false, usage: noUsage(), secret: undefined };
  const deltas = [];
  for await (const each of answerDeltas(eventsOf(chunks), { ...defaults, newCallId, ...options })) deltas.push(each);
  return deltas;
}

const textOf = (deltas: readonly ChatDelta[]) => deltas.map((each) => (each.kind === 'text' ? each.text : '')).join('');
const endOf = (deltas: readonly ChatDelta[]) => {
  const last = deltas.at(-1);
  return last?.kind === 'end' ? last.reason : last;
};
const failsWith = (words: RegExp) => (error: unknown) =>
  error instanceof EngineError && error.code === 'upstream-failed' && words.test(error.message);

const piece = (given: object) => delta({ tool_calls: [given] });
const called = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: string | undefined,
) => piece({ index, id, type: 'function', function: { name, arguments: args } });

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
    await assert.rejects(answer([says('x')]), failsWith(/in the middle/));
    await assert.rejects(answer([]), failsWith(/in the middle/));
    await assert.rejects(answer([says('x'), ends('abort'), '[DONE]']), failsWith(/gave the answer up/));
    await assert.rejects(answer([says('x'), new EngineError('upstream-failed', 'cut')]), failsWith(/cut/));
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
    await assert.rejects(answer(Array(5).fill(chunk), { topLogprobs: 0 }), failsWith(/without text/));
  });
});

describe('calls of tools', () => {
  it('are told once, then their arguments as they come', async () => {
    const deltas = await answer([
      called(0, 'c0', 'look', ''),
      called(0, undefined, undefined, '{"a"'),
      called(0, undefined, undefined, ':1}'),
      called(1, 'c1', 'listen', '{}'),
      ends('tool_calls'),
    ]);
    assert.deepEqual(deltas, [
      { kind: 'begin' },
      { kind: 'call', at: 0, id: 'c0', name: 'look' },
      { kind: 'arguments', at: 0, text: '{"a"' },
      { kind: 'arguments', at: 0, text: ':1}' },
      { kind: 'call', at: 1, id: 'c1', name: 'listen' },
      { kind: 'arguments', at: 1, text: '{}' },
      { kind: 'end', reason: 'tool_calls' },
    ]);
  });

  it('without arguments are told too', async () => {
    const deltas = await answer([
      called(0, 'c0', 'look', ''),
      called(1, 'c1', 'listen', undefined),
      ends('tool_calls'),
    ]);
    assert.deepEqual(
      deltas.filter(({ kind }) => kind === 'call'),
      [
        { kind: 'call', at: 0, id: 'c0', name: 'look' },
        { kind: 'call', at: 1, id: 'c1', name: 'listen' },
      ],
    );
  });

  const names = (deltas: readonly ChatDelta[]) =>
    deltas.flatMap((each) => (each.kind === 'call' ? [[each.at, each.id, each.name]] : []));

  it('get an id where the server gives none', async () => {
    const deltas = await answer([called(0, undefined, 'look', '{}'), called(1, '', 'look', '{}'), ends('tool_calls')]);
    assert.deepEqual(names(deltas), [
      [0, 'made_1', 'look'],
      [1, 'made_2', 'look'],
    ]);
  });

  it('are told apart by id where all have the same index, or none', async () => {
    const expected = [
      [0, 'a', 'look'],
      [1, 'b', 'look'],
    ];
    for (const index of [0, undefined]) {
      const deltas = await answer([called(index, 'a', 'look', '{}'), called(index, 'b', 'look', '{}'), ends('stop')]);
      assert.deepEqual([names(deltas), endOf(deltas)], [expected, 'tool_calls']);
    }
    const nameless = await answer([
      called(undefined, undefined, 'a', '{'),
      called(undefined, undefined, undefined, '}'),
      called(undefined, undefined, 'b', '{}'),
      ends('stop'),
    ]);
    assert.deepEqual(names(nameless), [
      [0, 'made_1', 'a'],
      [1, 'made_2', 'b'],
    ]);
  });

  it('may get their name and id in pieces before their arguments', async () => {
    const deltas = await answer([
      called(0, '', '', ''),
      called(0, '', 'lo', ''),
      called(0, 'x', 'look', ''),
      called(0, undefined, undefined, '{}'),
      ends('tool_calls'),
    ]);
    assert.deepEqual(names(deltas), [[0, 'x', 'look']]);
  });

  it('keep the name and id that were told', async () => {
    const deltas = await answer([called(0, '', 'look', '{'), called(0, 'late', 'look', '}'), ends('tool_calls')]);
    assert.deepEqual(names(deltas), [[0, 'made_1', 'look']]);
  });

  it('stay apart when their pieces are mixed', async () => {
    const deltas = await answer([
      called(0, 'a', 'x', '{'),
      called(1, 'b', 'y', '['),
      called(0, undefined, undefined, '}'),
      called(1, undefined, undefined, ']'),
      ends('tool_calls'),
    ]);
    const args = deltas.flatMap((each) => (each.kind === 'arguments' ? [`${each.at}${each.text}`] : []));
    assert.deepEqual(args, ['0{', '1[', '0}', '1]']);
  });

  it('are refused without a name, by the hundred, and without end', async () => {
    await assert.rejects(answer([called(0, 'a', undefined, '{}'), ends('tool_calls')]), failsWith(/without a name/));
    const many = Array.from({ length: 129 }, (_, at) => called(at, `c${at}`, 'x', '{}'));
    await assert.rejects(answer(many), failsWith(/more than 128 calls/));
    const long = [called(0, 'a', 'x', ''), ...Array(5).fill(called(0, undefined, undefined, 'y'.repeat(256 * 1024)))];
    await assert.rejects(answer(long), failsWith(/characters of arguments/));
    await assert.rejects(answer(Array(20).fill(says('y'.repeat(1024 * 1024)))), failsWith(/characters/));
  });

  it('that were forced come without words', async () => {
    const chunks = [delta({ role: 'assistant' }), says('Let me look.'), called(0, 'a', 'look', '{}'), ends('stop')];
    const deltas = await answer(chunks, { isCallForced: true });
    assert.deepEqual(
      deltas.map(({ kind }) => kind),
      ['begin', 'call', 'arguments', 'end'],
    );
  });

  it('that were forced and never came are refused before anything is told', async () => {
    const told: ChatDelta[] = [];
    const reading = async () => {
      const options = {
        stops: [],
        topLogprobs: undefined,
        isCallForced: true,
        usage: noUsage(),
        newCallId: () => '',
        secret: undefined,
      };
      for await (const each of answerDeltas(eventsOf([says('No.'), ends('stop')]), options)) told.push(each);
    };
    const isRefusal = (error: unknown) =>
      error instanceof CompletionError && error.kind === 'unsupported_value' && error.param === 'tool_choice';
    await assert.rejects(reading, isRefusal);
    assert.deepEqual(told, []);
    assert.equal(endOf(await answer([says('Let me thi'), ends('length')], { isCallForced: true })), 'length');
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
        failsWith(/cannot be read/),
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
    const options = {
      stops: [],
      topLogprobs: undefined,
      isCallForced: false,
      usage: noUsage(),
      newCallId: () => '',
      secret: undefined,
    };
    await assert.rejects(answerDeltas(events(), options).next(), failsWith(/status 500/));
  });
});
