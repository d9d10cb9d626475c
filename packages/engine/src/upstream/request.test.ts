import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCompletionRequest } from '@strata/inference';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { delta, ends, events, HELLO, MODEL, refuses, streams } from '../test/scripted.ts';
import { asking, chat, endOf, KEY, refusedAs, textOf, useUpstream } from '../test/upstream-harness.ts';

describe('the request to an upstream', () => {
  const world = useUpstream();
  const parameters = { type: 'object', properties: {} };
  const lookup = { name: 'lookup', description: 'Finds.', parameters, strict: true };
  const other = { name: 'other', parameters };
  const stream = { model: MODEL, stream: true, stream_options: { include_usage: true }, n: 1 };
  const tools = [lookup, other].map((each) => ({ type: 'function', function: each }));

  it('is for a stream of one choice with its usage', async () => {
    world.server.script(streams(HELLO));
    await chat(await world.open(), { seed: 77 }, { n: 4, stream: false });
    const [asked] = world.server.asked;
    assert.equal(asked?.path, '/v1/chat/completions');
    assert.equal(asked?.headers.authorization, `Bearer ${KEY}`);
    const messages = [{ role: 'user', content: 'hi' }];
    assert.deepEqual(asked?.body, { ...stream, temperature: 1, top_p: 1, seed: 77, messages });
  });

  it('has every field of the caller, in the names of the contract', async () => {
    world.server.script(streams(HELLO));
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const format = (json_schema: object) => ({ response_format: { type: 'json_schema', json_schema } });
    const same = {
      ...{ tools, tool_choice: 'auto', parallel_tool_calls: false, logprobs: true, top_logprobs: 3 },
      ...{ temperature: 0.5, top_p: 0.9, top_k: 40, min_p: 0.05, presence_penalty: 1, frequency_penalty: -1 },
      ...{ logit_bias: { 5: -100 }, stop: ['END', 'STOP'], prompt_cache_key: 'k' },
      ...{ reasoning_effort: 'low', chat_template_kwargs: { enable_thinking: false } },
    };
    const [messages, sent] = casesOf<object[][]>('engine', 'messages to an upstream');
    const limit = { max_completion_tokens: 9 };
    await chat(await world.open(), {}, { ...same, ...limit, messages, ...format({ name: 'x', schema }) });
    assert.deepEqual(world.server.asked[0]?.body, {
      ...same,
      ...{ ...stream, seed: 1, max_tokens: 9 },
      messages: sent,
      ...format({ name: 'answer', schema, strict: true }),
    });
  });

  async function bodyFor(kind: string, more: object) {
    world.server.pages['/v1/models'] = { data: [{ id: MODEL, owned_by: kind.replace('.', '') }] };
    const call = { index: 0, id: 'c', function: { name: 'lookup', arguments: '{}' } };
    world.server.script(streams(events(delta({ tool_calls: [call] }), ends('stop'), '[DONE]')));
    const upstream = await world.open();
    assert.equal(upstream.info.kind, kind);
    await chat(upstream, {}, more);
    return world.server.asked.at(-1)?.body;
  }

  it('leaves no defaults to servers that have their own, and asks each for log-probabilities and reasoning as it gives them', async () => {
    const KINDS = {
      'llama.cpp': [0, 0, 1, 'none'],
      vllm: [-1, 0, 0, undefined],
      other: [undefined, undefined, 0, undefined],
    };
    for (const [kind, expected] of Object.entries(KINDS)) {
      const body = await bodyFor(kind, { logprobs: true, reasoning_format: 'none' });
      assert.deepEqual([body.top_k, body.min_p, body.top_logprobs, body.reasoning_format], expected);
    }
  });

  it('forces a call by name, or by the only tool where the server ignores names, and may forbid calls', async () => {
    const choice = { type: 'function', function: { name: 'other' } };
    const more = { tools, tool_choice: choice, reasoning_format: 'none' };
    const { tools: sent, tool_choice } = await bodyFor('vllm', more);
    assert.deepEqual([sent, tool_choice], [tools, choice]);
    const llama = await bodyFor('llama.cpp', more);
    assert.deepEqual([llama.tools, llama.tool_choice, llama.reasoning_format], [[tools[1]], 'required', undefined]);
    const none = await bodyFor('other', { tools, tool_choice: 'none' });
    assert.deepEqual([none.tools, none.tool_choice], [undefined, undefined]);
  });

  it('names the length of an answer as the model requires, once it reported so', async () => {
    const problem = { message: "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead." };
    world.server.script(refuses(400, { error: { ...problem, param: 'max_tokens' } }), streams(HELLO));
    const upstream = await world.open();
    assert.equal(textOf(await chat(upstream, {}, { max_tokens: 5 })), 'Hello');
    await chat(upstream, {}, { max_tokens: 6 });
    const lengths = world.server.asked.map(({ body }) => `${body.max_tokens} ${body.max_completion_tokens}`);
    assert.deepEqual(lengths, ['5 undefined', 'undefined 5', 'undefined 6']);
    world.server.script(refuses(400, { error: problem }));
    await assert.rejects(chat(upstream), refusedAs('invalid_request'));
    assert.equal(world.server.asked.length, 4, 'there is no third name');
  });

  it('may be a prompt of plain text', async () => {
    world.server.script(streams(events({ choices: [{ index: 0, text: 'so', finish_reason: 'length' }] }, '[DONE]')));
    const fields = { model: 'ours', prompt: ['Once', 'no'], max_tokens: 1, logprobs: 0, stop: 'x' };
    const answer = (await world.open()).complete(readCompletionRequest(fields), { ...asking(), prompt: 'Once' });
    const deltas = (await Array.fromAsync(answer)).flat();
    assert.deepEqual([textOf(deltas), endOf(deltas)], ['so', 'length']);
    const body = { prompt: 'Once', max_tokens: 1, logprobs: 0, stop: ['x'], stream: true, n: 1 };
    assert.partialDeepStrictEqual(world.server.asked, [{ path: '/v1/completions', body }]);
  });
});
