// A store with every kind of value, and its contents, to compare a copy with.
import type { Store } from '../index.ts';
import { A, recordPoll, subscribed } from './feed-store.ts';
import { streamEvent } from './notifications.ts';
import { poll } from './polls.ts';
import { confirm, day, GOOGLE, scanOf } from './scans.ts';

const HOSTILE = 'a\tb\nc\r\\d\\N "e" \u{1f600} é\u0301 \\x00';
export const RECEIPT = `cr_${'a'.repeat(32)}`;

/** Scans so many domains, so often each. */
export async function fill(store: Store, { domains = 300, times = 1 } = {}): Promise<void> {
  const names = Array.from({ length: domains }, (_, i) => `d${i}.com`);
  for (let n = 0; n < times; n += 1) {
    const scans = names.map((name) => scanOf(name, day(n), GOOGLE));
    await store.recordScans(scans, confirm);
  }
  await store.addDomains(['waiting.com'], { source: HOSTILE });
  const [a = 0] = await subscribed(store, A);
  const items = [
    { key: HOSTILE, domains: ['x.com', 'y.com'] },
    { key: '2', domains: ['x.com'] },
  ] as const;
  await recordPoll(store, a, poll(A, items, { title: HOSTILE, error: 'with a NUL \0' }));
  await store.segments.put({
    ...{ nonce: Uint8Array.of(0, 255, 92, 10), worker: 'w', gateway: 'g', caller: undefined, modelSha256: 'a' },
    ...{ promptTokens: 1, cachedTokens: 0, outputTokens: 2, endedAtMs: 5, receipt: new Uint8Array() },
    ...{ workerSignature: Uint8Array.of(9), gatewaySignature: undefined },
  });
  await store.advisories.putScores([{ cve: 'CVE-2024-0001', epss: 0.123456789, percentile: 1 / 3 }]);
  const { stored } = await store.keys.create({ tier: 'free', label: HOSTILE });
  await store.quota.take(stored.id, '2026-01-01', 50);
  await store.stream.begin(0, 1);
  const body = JSON.stringify({ text: HOSTILE, provenance: { ledger_receipt_id: RECEIPT } });
  const events = [1, 2, 3].map((publishedUs) => streamEvent(publishedUs, { domain: null, body }));
  await store.stream.append(events, { from: 0, to: 1 });
}

export const contentsOf = async (store: Store) => ({
  counts: await store.counts(),
  profile: await store.domain('d7.com'),
  changes: await store.changes('d7.com', { limit: 10, offset: 0 }),
  events: await store.eventsSince(0, 5_000),
  due: await store.due(new Date('2027-01-01'), 5_000),
  keys: await store.keys.list(),
  named: await store.feeds.mentions.feedsNaming('x.com', 10),
  segments: await store.segments.list({ limit: 10 }),
  stream: await store.stream.since(0, 10),
  scans: (await store.feed.scansSince(0, 5_000)).map((scan) => ({ ...scan })),
});
