// Requests as they are read: a conversation of the Responses API, and bounds of fields.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readChatRequest } from './request.ts';
import { readResponsesRequest } from './responses-request.ts';

const user = { role: 'user', content: 'a' };
it('a request of the Responses API is read as a conversation, and an error names the item of the request', () => {
  const says = { role: 'assistant', content: 'b' };
  const thinks = { type: 'reasoning', summary: [{ type: 's', text: 'h' }] };
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
  const [again, long, lost] = ['fc', 'l', 'fd'].map((id) => ({ type: 'item_reference', id }));
  const itemOf = (id: string) => ({ fc: call, l: { ...says, content: 'b'.repeat(2_000_001) } })[id];
  const read = (...input: unknown[]) => readResponsesRequest({ model: 'm', input }, itemOf);
  const texts = { ...thinks, encrypted_content: 'x', content: [{ type: 'reasoning_text', text: 'hm' }] };
  const { messages, prefersStrict } = read(user, thinks, says, call, texts, thinks, call, again, thinks, user).chat;
  assert.ok(prefersStrict);
  const written = messages.map(({ content, reasoning, toolCalls }) => [content, reasoning, toolCalls?.length].join());
  assert.deepEqual(written, ['a,,', 'b,h,1', ',hm\n\nh,2', 'a,,']);
  assert.throws(() => read(user, { ...user, role: 'x' }), { param: 'input[1].role' });
  assert.throws(() => read(user, lost), { param: 'input[1].id' });
  assert.throws(() => read(user, call, long, long), /longer than 4000000/);
});
it('a request may have a bias from -100 to 100 for a token', () => {
  const read = (logit_bias: object) => readChatRequest({ model: 'm', messages: [user], logit_bias });
  assert.deepEqual([...read({ 1: -100, 2: 100 }).sampling.logitBias].flat(), [1, -100, 2, 100]);
  for (const bias of [-101, 101]) assert.throws(() => read({ 1: bias }), { param: /^logit_bias/ });
});
