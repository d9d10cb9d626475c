// The event stream: many subscribers, one event to all. How long until the last one has it, and what each costs.
import { setTimeout as delay } from 'node:timers/promises';
import { askChild, type Figure, kib, openFilesFor, setting, startChild, thousands, useOf } from '../measure.ts';
import type { Judgement, PublishedEvents, SubscribersOptions } from './subscribers-process.ts';

const SUBSCRIBERS = setting('SUBSCRIBERS', 10_000);
/** Open before the memory is first read: the process has grown to what serving takes at all. */
const WARM_UP = SUBSCRIBERS / 5;
const ROUNDS = 7;
const TIMEOUT_MS = 30_000;

export async function benchStream(): Promise<Figure[]> {
  openFilesFor(SUBSCRIBERS + WARM_UP);
  const serverProcess = new URL('./stream-server-process.ts', import.meta.url);
  await using server = await startChild<{ port: number; key: string }>(serverProcess);
  const subscribers = (count: number) => {
    const options: SubscribersOptions = { ...server.ready, count };
    return startChild(new URL('./subscribers-process.ts', import.meta.url), options);
  };
  await using _warm = await subscribers(WARM_UP);
  const before = await useOf(server, 'live');
  await using clients = await subscribers(SUBSCRIBERS);
  const after = await useOf(server, 'live');
  const lastOfAll = () => askChild<number>(clients, 'received');
  const events: PublishedEvents['events'][number][] = [];
  for (let seq = (await lastOfAll()) + 1; events.length < ROUNDS; seq += 1) {
    const { recordedAt } = await askChild<{ recordedAt: number }>(server, 'publish');
    events.push({ seq, recordedAt });
    for (const deadline = Date.now() + TIMEOUT_MS; (await lastOfAll()) < seq; await delay(50))
      if (Date.now() > deadline) throw new Error(`not all have event ${seq} after ${TIMEOUT_MS / 1_000} s`);
  }
  const { lost, outOfOrder, closed, toLast } = await askChild<Judgement>(clients, { events });
  if (lost + outOfOrder + closed > 0) throw new Error('the subscribers have not had all events, once and in order');
  const [p50 = 0, , worst = 0] = toLast;
  const each = (bytes: number) => kib(bytes / SUBSCRIBERS);
  return [
    [
      `commit of a scan to the last of ${thousands(SUBSCRIBERS)} subscribers`,
      `${p50.toFixed(0)} ms, worst of ${ROUNDS}: ${worst.toFixed(0)} ms`,
      'goal < 1,000 ms',
    ],
    [
      'memory a subscriber: RSS; heap',
      `${each(after.rss - before.rss)}; ${each(after.heapUsed - before.heapUsed)}`,
      'goal < 10 KiB',
    ],
  ];
}
