// Slots of the sender, with receivers that do not answer.
import assert from 'node:assert/strict';
import { pino } from 'pino';
import { memory, onEach } from '../store/test/backends.ts';
import { type SenderDeps, sendDeliveries } from './sender.ts';
import type { Channel } from './watchlist.ts';

onEach([memory], 'the sender', (_backend, test) => {
  test('keeps slots for keys without a message in flight', async (store) => {
    const now = () => new Date('2026-11-29T12:00:00Z');
    const keyWith = async (hosts: readonly string[]) => {
      const { stored: key } = await store.keys.create({ tier: 'standard' });
      for (const host of hosts) {
        const channel: Channel = {
          ...{ id: 'ch', kind: 'webhook', target: `https://${host}/`, digest: 'none', timeZone: 'UTC' },
          secret: 'whsec_AAAA',
        };
        const content = { name: '', domains: [], rules: [], channels: [channel] };
        const list = await store.watchlists.create(key.id, content, { maxLists: 9, now: now() });
        assert.ok(typeof list === 'object' && 'id' in list);
        await store.deliveries.addTests(list, now());
      }
    };
    for (const key of 'abcd') await keyWith(Array.from({ length: 9 }, (_, i) => `slow-${key}-${i}.com`));
    await keyWith(['fast-e.com']);

    const stop = new AbortController();
    const asked: string[] = [];
    const fetch = async (url: string, { signal }: { signal?: AbortSignal }) => {
      const { hostname } = new URL(url);
      asked.push(hostname.slice(0, 6));
      if (hostname.startsWith('fast')) stop.abort();
      else if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      return { kind: 'failed', reason: 'aborted' };
    };
    const fetcher = { fetch } as unknown as SenderDeps['fetcher'];
    await sendDeliveries({ store, fetcher, logger: pino({ level: 'silent' }), now }, stop.signal);
    const counts = Map.groupBy(asked, (each) => each);
    const found = [...counts].map(([each, some]) => [each, some.length]);
    assert.deepEqual(found, [...['slow-a', 'slow-b', 'slow-c'].map((each) => [each, 8]), ['slow-d', 1], ['fast-e', 1]]);
  });
});
