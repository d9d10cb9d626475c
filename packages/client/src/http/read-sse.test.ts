import assert from 'node:assert/strict';
import { it } from 'node:test';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { BrokenStreamError, readSse, readSseWithPositions, type SseItem } from './read-sse.ts';

/** The items of a text that comes in these pieces. */
async function itemsOf(pieces: readonly Uint8Array[], bounds: { maxEventChars?: number } = {}): Promise<SseItem[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return await Array.fromAsync(readSse(body, { silentMs: 5_000, ...bounds }));
}
const bytes = (text: string) => new TextEncoder().encode(text);
const event = (data: string, name = 'message', lastEventId = '') =>
  ({ kind: 'event', name, data, lastEventId }) as const satisfies SseItem;

// Each of the standard's parsing rules (WHATWG HTML, 9.2.6) that differs in what it gives; a number is a `retry`.
const [one] = [event('1')];
type Item = Parameters<typeof event> | number;
const itemOf = (item: Item): SseItem => (typeof item === 'number' ? { kind: 'retry', retryMs: item } : event(...item));
const cases = casesOf<[what: string, text: string, items: Item[]][]>('client', 'streams of server-sent events');

for (const [what, text, expected] of cases)
  it(`server-sent events are read: ${what}, wherever the pieces are cut`, async () => {
    const [complete, items] = [bytes(text), expected.map(itemOf)];
    for (let cut = 0; cut <= complete.length; cut += 1)
      assert.deepEqual(await itemsOf([complete.subarray(0, cut), complete.subarray(cut)]), items, `cut at ${cut}`);
    assert.deepEqual(await itemsOf(Array.from(complete, (byte) => Uint8Array.of(byte))), items);
  });

it('server-sent events fail for an event that is too long, in one line or in many', async () => {
  for (const endless of [`data: ${'x'.repeat(200)}`, 'data: x\n'.repeat(200)])
    await assert.rejects(itemsOf([bytes(endless)], { maxEventChars: 100 }), BrokenStreamError);
  for (const heartbeat of [': heartbeat\n\n', ': heartbeat\n', 'foo: x\n'])
    assert.deepEqual(await itemsOf([bytes(`${heartbeat.repeat(200)}data: 1\n\n`)], { maxEventChars: 100 }), [one]);
});

it('server-sent events fail on an idle connection', async () => {
  const cancelled = Promise.withResolvers<void>();
  const cancel = () => cancelled.resolve();
  const start = (to: ReadableStreamDefaultController<Uint8Array>) => to.enqueue(bytes('data: 1\n\n'));
  const events = readSse(new ReadableStream<Uint8Array>({ start, cancel }), { silentMs: 20 });
  assert.equal((await events.next()).done, false);
  await assert.rejects(events.next(), BrokenStreamError);
  await cancelled.promise;
});

it('server-sent events report a position where an id comes without an event, once', async () => {
  const { body } = new Response('id: 7\n\n:\n\nid: 7\n\nid: 8\ndata: x\n\n');
  const items = await Array.fromAsync(readSseWithPositions(body ?? assert.fail(), { silentMs: 5_000 }));
  assert.deepEqual(items, [{ kind: 'position', lastEventId: '7' }, event('x', 'message', '8')]);
});
