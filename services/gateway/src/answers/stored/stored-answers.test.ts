// Stored answers of one gateway: read by their key alone, from any event on, and continued by the next start.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Engine } from '@strata/engine';
import { createSimulatedEngine } from '@strata/testnet';
import OpenAI from 'openai';
import { temporaryDirectory, untilAnswer } from '../../../../../tests/support/index.ts';
import { type Harness, type Json, MODEL, startHarness } from '../../test/harness.ts';
import { assertRefusal, ENDLESS, MESSAGES, sharedGateway } from '../../test/shared.ts';

const input = 'What is DMARC?';
const clientOf = ({ base, key }: Harness) => new OpenAI({ baseURL: `${base}/v1`, apiKey: key });
const stored = { model: MODEL, input, background: true, seed: 1 } as const;
const otherKey = async ({ running }: Harness) => {
  const { key } = await running.gateway.keys.create({ tier: 'free' });
  return { authorization: `Bearer ${key}` };
};
/** Of a response that is streamed: at most this many events. */
async function someEvents(stream: AsyncIterable<Json>, count: number): Promise<Json[]> {
  const events: Json[] = [];
  for await (const event of stream) if (events.push(event) === count) break;
  return events;
}

describe('a response in the background', () => {
  it('is queued, generated without its client, polled, and deleted', async () => {
    const gateway = await sharedGateway();
    const client = clientOf(gateway);
    const { id, status, background, store }: Json = await client.responses.create(stored);
    assert.deepEqual([status, background, store], ['queued', true, true]);
    const poll = () => gateway.get(`/v1/responses/${id}`);
    const { body } = await untilAnswer('it is complete', poll, (answer) => answer.body.status === 'completed');
    assert.match(body.output[0].content[0].text, /^DMARC/);
    assertRefusal(await gateway.get(`/v1/responses/${id}`, await otherKey(gateway)), [404, 'not_found', null]);
    await client.responses.delete(id);
    assertRefusal(await poll(), [404, 'not_found', null]);
  });

  it('is streamed again from any event on, as it was the first time', async () => {
    const client = clientOf(await sharedGateway());
    const begun = await someEvents(await client.responses.create({ ...stored, stream: true }), 6);
    const id = begun[0].response.id;
    const rest = await someEvents(await client.responses.retrieve(id, { stream: true, starting_after: 5 }), 999);
    const again = await someEvents(await client.responses.retrieve(id, { stream: true }), 999);
    assert.deepEqual(again, [...begun, ...rest]);
    assert.deepEqual(
      again.map(({ sequence_number }) => sequence_number),
      [...again.keys()],
    );
    assert.equal(again.at(-1).response.status, 'completed');
    assert.partialDeepStrictEqual(await client.responses.retrieve(id), again.at(-1).response);
  });

  it('is cancelled where it is, once, and counts what was generated', async () => {
    const gateway = await sharedGateway();
    const client = clientOf(gateway);
    const stream = await client.responses.create({ ...stored, stream: true });
    const [{ response }] = await someEvents(stream, 1);
    const cancelled = await client.responses.cancel(response.id);
    assert.equal(cancelled.status, 'cancelled');
    assert.deepEqual(await client.responses.cancel(response.id), cancelled);
    const kept = await client.responses.create({ model: MODEL, input, store: true });
    await assert.rejects(client.responses.cancel(kept.id), /Only responses in the background/);
  });
});

describe('a chat stream', () => {
  const chat = { ...ENDLESS, max_tokens: 40, stream: true };

  it('with `store` has event ids, after which the same request continues', async () => {
    const gateway = await sharedGateway();
    const asked = { ...chat, n: 2, store: true, stream_options: { include_usage: true } };
    const first = await gateway.post('/v1/chat/completions', asked);
    const events = first.text.split('\n\n').slice(0, -1);
    assert.match(events.at(-1) ?? '', /^id: \S+\ndata: \[DONE\]$/);
    const at = Math.floor(events.length / 2);
    const last = /^id: (\S+)$/m.exec(events[at] ?? '')?.[1] ?? assert.fail();
    const rest = await gateway.post('/v1/chat/completions', asked, { 'last-event-id': last });
    assert.deepEqual(rest.text.split('\n\n').slice(0, -1), events.slice(at + 1));
    assert.equal(rest.headers.get('x-receipt-id'), first.headers.get('x-receipt-id'));
    const refused = await gateway.post('/v1/chat/completions', asked, {
      'last-event-id': last,
      ...(await otherKey(gateway)),
    });
    assertRefusal(refused, [404, 'not_found', null]);
    const invalid = await gateway.post('/v1/chat/completions', asked, { 'last-event-id': '7' });
    assertRefusal(invalid, [400, 'invalid_value', 'Last-Event-ID']);
  });

  it('without it has none, and nothing is stored', async () => {
    const gateway = await sharedGateway();
    const { text } = await gateway.post('/v1/chat/completions', chat);
    assert.doesNotMatch(text, /^id:/m);
    const response = await gateway.post('/v1/responses', { model: MODEL, input });
    assert.equal(response.body.store, false);
    assertRefusal(await gateway.get(`/v1/responses/${response.body.id}`), [404, 'not_found', null]);
  });
});

it('an answer whose gateway stops goes on at the next start, as if it had not; its text is encrypted on disk', async () => {
  await using directory = await temporaryDirectory();
  const start = () =>
    startHarness(
      { STRATA_MODEL: '', STRATA_DATA: directory.path },
      { engines: { m: createSimulatedEngine({ slots: 4, tokensPerSecond: 100 }) as unknown as Engine }, shutdownMs: 0 },
    );
  const body = { model: 'm', messages: MESSAGES, max_tokens: 60, seed: 5, stream: true, store: true };
  const first = await start();
  const undisturbed = await first.post('/v1/chat/completions', body);
  const response = await first.open('/v1/chat/completions', body);
  const begun = new TextDecoder().decode((await response.body?.getReader().read())?.value);
  await first[Symbol.asyncDispose]();
  for (const name of readdirSync(directory.path).filter((file) => file.startsWith('inference.db')))
    assert.ok(!readFileSync(path.join(directory.path, name)).includes(input), `${name} has the text`);

  await using second = await start();
  const id = /^id: (\S+)$/m.exec(begun)?.[1] ?? assert.fail();
  const headers = { authorization: `Bearer ${first.key}`, 'last-event-id': id };
  const rest = await second.post('/v1/chat/completions', body, headers);
  const contentOf = (events: string) =>
    [...events.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? '').choices[0]?.delta.content);
  const all = [...contentOf(begun.split('\n\n')[0] ?? ''), ...contentOf(rest.text)];
  assert.deepEqual(all, contentOf(undisturbed.text));
  const receipt = await second.get(`/v1/receipts/${response.headers.get('x-receipt-id')}`, headers);
  assert.partialDeepStrictEqual(receipt.body, { outcome: 'completed', usage: { completion_tokens: 60 } });
});
