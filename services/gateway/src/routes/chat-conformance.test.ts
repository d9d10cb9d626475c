// The bodies of chat completions that are accepted, and the errors of those that are rejected.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { type Json, MODEL } from '../test/harness.ts';
import { assertRefusal, chunksOf, MESSAGES, post } from '../test/shared.ts';

const TARGET = '/v1/chat/completions';
const [user] = MESSAGES;
const chat = (more: object = {}) => ({ model: MODEL, messages: MESSAGES, max_tokens: 4, ...more });
const say = (...messages: unknown[]) => ({ messages });
const tool = (_: unknown, i: number) => ({ type: 'function', function: { name: `t${i}` } });
const [MISSING, INVALID] = ['missing_required_parameter', 'invalid_value'] as const;

const accepted = casesOf<readonly (readonly [name: string, more: object])[]>('gateway', 'accepted chat completions');

/** Values that are rejected as `invalid_value`, by field. */
const invalid: readonly (readonly [param: string, ...values: unknown[]])[] = [
  ...casesOf<readonly (readonly [string, ...unknown[]])[]>('gateway', 'invalid values of chat completions'),
  ['tools', Array.from({ length: 129 }, tool)],
];

/** Messages that are rejected: by error code, and the path of the error in the message. */
type RefusedMessage = readonly [message: unknown, code: string, where: string];
const refusedMessages = casesOf<readonly RefusedMessage[]>('gateway', 'refused messages');

const refused: readonly (readonly [more: object, code: string, param: string])[] = [
  ...casesOf<readonly [object, string, string][]>('gateway', 'refused chat completions'),
  [{ model: undefined }, MISSING, 'model'],
  [{ messages: undefined }, MISSING, 'messages'],
  [say({ role: 'user', content: 'word '.repeat(500) }), 'context_length_exceeded', 'messages'],
  [say({ role: 'user', content: 'x'.repeat(1e6) }), 'context_length_exceeded', 'messages'],
];

for (const [name, more] of accepted)
  it(`a chat completion is answered with ${name}`, async () => {
    const { status, body, text, headers } = await post(TARGET, chat(more));
    assert.equal(status, 200, text);
    assert.match(headers.get('x-request-id') ?? '', /^req_/);
    assertCompletion(body, (more as { n?: number | null }).n ?? 1);
  });

const refuses = (more: object, code: string, param: string) =>
  it(`a chat completion is rejected with ${code} of ${param}: ${JSON.stringify(more).slice(0, 80)}`, async () => {
    assertRefusal(await post(TARGET, chat(more)), [400, code, param]);
    if ('stream' in more || 'stream_options' in more) return;
    const { status } = await post(TARGET, { ...chat(more), stream: true });
    assert.equal(status, 400, 'the status of a stream, too');
  });
for (const [param, ...values] of invalid) for (const value of values) refuses({ [param]: value }, INVALID, param);
for (const [message, code, where] of refusedMessages)
  for (const earlier of [[], [user]]) refuses(say(...earlier, message), code, `messages[${earlier.length}]${where}`);
for (const [more, code, param] of refused) refuses(more, code, param);

it('a chat completion is rejected if the body is not a JSON object', async () => {
  const deep = `{"metadata":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
  for (const body of ['[]', '"hello"', '7', 'null', '{"model":', '', deep])
    assertRefusal(await post(TARGET, body), [400, null, null]);
});

it('a chat completion has the documented form as a stream', async () => {
  const asked = chat({ temperature: 0, stream: true, stream_options: { include_usage: true } });
  const chunks = chunksOf(await post(TARGET, asked));
  assert.ok(chunks.every(({ object }) => object === 'chat.completion.chunk'));
  assert.deepEqual(chunks[0].choices[0].delta, { role: 'assistant', content: '', refusal: null });
  assert.deepEqual(chunks.at(-2).choices[0], { index: 0, delta: {}, logprobs: null, finish_reason: 'length' });
  assert.equal(chunks.at(-1).usage.completion_tokens, 4);
});

function assertCompletion(answer: Json, choices: number): void {
  assert.deepEqual(Object.keys(answer), ['id', 'object', 'created', 'model', 'system_fingerprint', 'choices', 'usage']);
  assert.equal(answer.choices.length, choices);
  for (const [i, choice] of answer.choices.entries()) {
    assert.deepEqual([choice.index, choice.message.role, choice.message.refusal], [i, 'assistant', null]);
    assert.ok(['stop', 'length', 'tool_calls'].includes(choice.finish_reason));
    assert.ok(typeof choice.message.content === 'string' || choice.message.tool_calls.length > 0);
  }
  assert.ok(answer.usage.prompt_tokens > 0 && answer.usage.completion_tokens > 0);
}
