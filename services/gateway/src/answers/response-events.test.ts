import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ChatDelta, type OutputItem, outputItems, readResponsesRequest, responseObject } from '@strata/inference';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { RecentItems } from '../routes/v1/recent-items.ts';
import { ResponseEvents } from './response-events.ts';

const head = { id: 'resp_1', created: 0, model: 'm', fingerprint: 'fp_1' };
const usage = { promptTokens: 1, completionTokens: 3, cachedTokens: 0, reasoningTokens: 2 };
const texts: ChatDelta[] = ['h', 'm'].map((text) => ({ kind: 'reasoning', text }));
const choice = { content: null, reasoning: 'hm', toolCalls: [], logprobs: undefined, finishReason: 'stop' } as const;

it('reasoning is in events and items, also as the summary where one is asked for, and is read once when sent back', () => {
  for (const [reasoning, kind, parts, expected] of casesOf<[object, string, number, string[]][]>(
    'gateway',
    'reasoning of responses',
  )) {
    const asked = readResponsesRequest({ model: 'm', input: 'a', reasoning });
    const kept: OutputItem[] = [];
    const events = new ResponseEvents(head, asked, (item) => kept.push(item));
    const sent = [...texts, { kind: 'end', reason: 'stop' } as const].flatMap((delta) => events.take(delta));
    const textOf = ({ text, delta, part }: Record<string, unknown>) => text ?? delta ?? Object(part).text ?? '';
    assert.deepEqual(
      sent.map((event) => `${event.type.slice(9)} ${textOf(event)}`.trimEnd()),
      expected,
    );
    assert.deepEqual(
      outputItems(choice, asked, () => kept[0]?.id ?? ''),
      kept,
    );
    const [summary, content] = ['summary_text', 'reasoning_text'].map((type) => [{ type, text: 'hm' }]);
    assert.partialDeepStrictEqual(kept, [{ summary: summary?.slice(0, parts), content }]);
    const response = responseObject(head, asked, { output: kept, reason: 'stop', usage });
    assert.deepEqual(events.end('stop', usage).response, response);
    assert.deepEqual(response.reasoning, { effort: null, summary: kind });
    const input = [kept[0], { role: 'assistant', content: 'b' }];
    assert.equal(readResponsesRequest({ model: 'm', input }).chat.messages[0]?.reasoning, 'hm');
  }
});

it('items are found with the key of their answer only, the newest 32 Mi characters of them, none of more than one', () => {
  const items = new RecentItems();
  const keep = (id: string, length: number) =>
    items.keep('key_a', {
      ...{ type: 'reasoning', id, status: 'completed', summary: [] },
      content: [{ type: 'reasoning_text', text: 'x'.repeat(length) }],
    });
  keep('rs_long', 2 ** 20);
  for (let i = 0; i < 40; i += 1) keep(`rs_${i}`, 2 ** 20 - 512);
  const found = (key: string, ...ids: string[]) => ids.map((id) => items.find(key, id)?.id);
  assert.deepEqual(found('key_a', 'rs_long', 'rs_7', 'rs_8', 'rs_39'), [undefined, undefined, 'rs_8', 'rs_39']);
  assert.deepEqual(
    [...found('key_b', 'rs_39', 'key_a rs_39'), ...found('key_a rs_39', ''), ...found('', 'key_a rs_39')],
    Array(4).fill(undefined),
  );
});
