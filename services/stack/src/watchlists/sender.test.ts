// Which messages are in flight.
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { memory, onEach } from '../store/test/backends.ts';
import { type SenderDeps, sendDeliveries } from './sender.ts';

onEach([memory], 'the sender', (_backend, test) => {
  test('has few messages for one receiver in flight, and sends those for other receivers', async (store) => {
    const { stored: key } = await store.keys.create({ tier: 'standard' });
    const rules = [{ kind: 'gained_provider' }] as const;
    for (const host of [...Array.from({ length: 40 }, (_, i) => `h${i}.slow.com`), 'fast.com']) {
      const channel = { id: 'ch', kind: 'slack', target: `https://${host}/`, digest: 'none', timeZone: 'UTC' } as const;
      const [content, now] = [{ name: host, domains: [], rules, channels: [channel] }, new Date()];
      const list = await store.watchlists.create(key.id, content, { maxLists: 99, now });
      if (typeof list !== 'string') await store.deliveries.addTests(list, now);
    }
    const stopping = new AbortController();
    const asked: string[] = [];
    const isSent = Promise.withResolvers<void>();
    const fetch = async (url: string): Promise<never> => {
      asked.push(url);
      if (url === 'https://fast.com/') isSent.resolve();
      return new Promise<never>((_resolve, reject) => stopping.signal.addEventListener('abort', () => reject()));
    };
    const fetcher = { fetch } as unknown as SenderDeps['fetcher'];
    const deps = { store, fetcher, logger: pino({ level: 'silent' }), now: () => new Date() };
    const sending = sendDeliveries(deps, stopping.signal);
    await isSent.promise;
    await setImmediate();
    assert.equal(asked.length, 5);
    stopping.abort();
    await sending;
  });
});
