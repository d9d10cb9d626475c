// The event stream: many subscribers, one event to all. How long until the last one has it, and what each costs.
import { setTimeout as delay } from 'node:timers/promises';
import { askChild, type Figure, openFilesFor, startChild } from '../measure.ts';
import type { Judgement, PublishedEvents, SubscribersOptions } from './subscribers-process.ts';

const SUBSCRIBERS = Number(process.env.STRATA_BENCH_SUBSCRIBERS ?? 10_000);
/** Open before the memory is first read: the process has grown to what serving takes at all. */
const WARM_UP = 2_000;
const ROUNDS = 7;
const TIMEOUT_MS = 30_000;

interface Memory {
  readonly rss: number;
  readonly heap: number;
  readonly open: number;
}

export async function benchStream(): Promise<Figure[]> {
  const files = openFilesFor(SUBSCRIBERS + WARM_UP);
  await using server = await startChild<{ port: number; key: string }>(
    new URL('./stream-server-process.ts', import.meta.url),
  );
  const subscribers = (count: number) => {
    const options: SubscribersOptions = { ...server.ready, count };
    return startChild(new URL('./subscribers-process.ts', import.meta.url), options);
  };
  await using _warm = await subscribers(WARM_UP);
  const before = await askChild<Memory>(server, 'memory');
  await using clients = await subscribers(SUBSCRIBERS);
  const after = await askChild<Memory>(server, 'memory');
  const lastOfAll = () => askChild<number>(clients, 'received');
  const events: PublishedEvents['events'][number][] = [];
  for (let seq = (await lastOfAll()) + 1; events.length < ROUNDS; seq += 1) {
    const { recordedAt } = await askChild<{ recordedAt: number }>(server, 'publish');
    events.push({ seq, recordedAt, publishedAt: recordedAt });
    for (const deadline = Date.now() + TIMEOUT_MS; (await lastOfAll()) < seq; await delay(50))
      if (Date.now() > deadline) throw new Error(`not all have event ${seq} after ${TIMEOUT_MS / 1_000} s`);
  }
  const { lost, outOfOrder, closed, toLast, spread } = await askChild<Judgement>(clients, { events });
  if (lost + outOfOrder + closed > 0) throw new Error('the subscribers have not had all events, once and in order');
  const kib = (bytes: number) => `${(bytes / SUBSCRIBERS / 1_024).toFixed(1)} KiB`;
  return [
    { what: 'files that a process may have open', value: files.toLocaleString('en-US'), against: '' },
    {
      what: `one event to ${SUBSCRIBERS.toLocaleString('en-US')} of ${after.open.toLocaleString('en-US')} subscribers, from the commit of the scan to the last`,
      value: `${toLast[0]?.toFixed(0)} ms (worst of ${ROUNDS}: ${toLast.at(-1)?.toFixed(0)} ms)`,
      against: 'goal: < 1,000 ms',
    },
    { what: 'of which from the first subscriber to the last', value: `${spread[0]?.toFixed(0)} ms`, against: '' },
    {
      what: 'memory of the server for each subscriber, RSS',
      value: kib(after.rss - before.rss),
      against: 'goal: < 10 KiB',
    },
    { what: 'of which JavaScript heap', value: kib(after.heap - before.heap), against: '' },
  ];
}
