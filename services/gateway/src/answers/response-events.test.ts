import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  type ChatDelta,
  type OutputItem,
  outputCall,
  outputItems,
  readResponsesRequest,
  responseObject,
} from '@strata/inference';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { RecentItems } from '../routes/v1/recent-items.ts';
import { ResponseEvents } from './response-events.ts';

const head = { id: 'resp_1', created: 0, model: 'm', fingerprint: 'fp_1' };
const usage = { promptTokens: 1, completionTokens: 3, cachedTokens: 0, reasoningTokens: 2 };
const deltas: ChatDelta[] = ['h', 'm'].map((text) => ({ kind: 'reasoning', text }));
const choice = { content: null, reasoning: 'hm', toolCalls: [], logprobs: undefined, finishReason: 'stop' } as const;

it('reasoning is in events and items, also as the summary where one is asked for, and is read once when sent back', () => {
  const cases = casesOf<[object, object[], string | null, string[]][]>('gateway', 'reasoning of responses');
  for (const [reasoning, summary, kind, expected] of cases) {
    const asked = readResponsesRequest({ model: 'm', input: 'a', reasoning });
    const kept: OutputItem[] = [];
    const events = new ResponseEvents(head, asked, (item) => kept.push(item));
    const sent = [...deltas, { kind: 'end', reason: 'stop' } as const].flatMap((delta) => events.take(delta));
    const textOf = ({ text, delta, part }: Record<string, unknown>) => text ?? delta ?? Object(part).text ?? '';
    const written = sent.map((event) => `${event.type.slice(9)} ${textOf(event)}`.trimEnd());
    const complete = outputItems(choice, asked, () => 'rs_1');
    assert.deepEqual([written, complete], [expected, kept.map((item) => ({ ...item, id: 'rs_1' }))]);
    assert.partialDeepStrictEqual(complete, [{ summary, content: [{ type: 'reasoning_text', text: 'hm' }] }]);
    const response = responseObject(head, asked, { output: kept, reason: 'stop', usage });
    assert.deepEqual([events.end('stop', usage).response, response.reasoning.summary], [response, kind]);
    const input = [...complete, { role: 'assistant', content: 'b' }];
    assert.equal(readResponsesRequest({ model: 'm', input }).chat.messages[0]?.reasoning, 'hm');
  }
});

it('items are found with the key of their answer only, the newest 32 Mi characters of them, none of more than one', () => {
  const items = new RecentItems();
  const call = { id: 'fc', callId: 'call_1', name: 'f', status: 'completed' } as const;
  items.keep('key_a', outputCall({ ...call, given: 'x'.repeat(2 ** 20) }));
  const given = 'x'.repeat(2 ** 20 - 512);
  for (let i = 0; i < 40; i += 1) items.keep('key_a', outputCall({ ...call, id: `fc_${i}`, given }));
  const found = ['fc', 'fc_7', 'fc_8', 'fc_39'].map((id) => items.find('key_a', id)?.id);
  assert.deepEqual([...found, items.find('key_b', 'fc_39')], [undefined, undefined, 'fc_8', 'fc_39', undefined]);
});
