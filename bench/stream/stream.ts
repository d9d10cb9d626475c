// The event stream: many subscribers, one event to all. How long until the last one has it, and what each costs.
import { once } from 'node:events';
import { type Child, type Figure, median, openFileLimit, startChild } from '../measure.ts';

const SUBSCRIBERS = 10_000;
/** Open before the memory is first read: the process has grown to what serving takes at all. */
const WARM_UP = 2_000;
const ROUNDS = 7;
const TIMEOUT_MS = 30_000;
/** Files that a process has open in addition to its sockets, with a margin. */
const OTHER_FILES = 200;

interface Memory {
  readonly rss: number;
  readonly heap: number;
  readonly open: number;
}

export async function benchStream(): Promise<Figure[]> {
  const files = openFileLimit();
  if (files < SUBSCRIBERS + WARM_UP + OTHER_FILES) {
    throw new Error(
      `a process may open ${files} files here; ${SUBSCRIBERS + WARM_UP + OTHER_FILES} are needed: ulimit -n`,
    );
  }
  await using server = await startChild<{ port: number; key: string }>(
    new URL('./stream-server-process.ts', import.meta.url),
    {},
    ['--expose-gc'],
  );
  const { port, key } = server.ready;
  await using _warm = await startChild(new URL('./stream-clients-process.ts', import.meta.url), {
    port,
    key,
    count: WARM_UP,
  });
  const before = await ask<Memory>(server, 'memory');
  await using clients = await startChild<{ open: number }>(new URL('./stream-clients-process.ts', import.meta.url), {
    port,
    key,
    count: SUBSCRIBERS,
  });
  const after = await ask<Memory>(server, 'memory');
  const toLast: number[] = [];
  const spread: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    await ask(clients, 'wait');
    const received = once(clients.process, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const { committedAt } = await ask<{ committedAt: string }>(server, 'publish');
    const [{ firstAt, lastAt }] = (await received) as [{ firstAt: string; lastAt: string }];
    toLast.push(Number(BigInt(lastAt) - BigInt(committedAt)) / 1e6);
    spread.push(Number(BigInt(lastAt) - BigInt(firstAt)) / 1e6);
  }
  const kib = (bytes: number) => `${(bytes / SUBSCRIBERS / 1_024).toFixed(1)} KiB`;
  return [
    { what: 'files that a process may have open', value: files.toLocaleString('en-US'), against: '' },
    {
      what: `one event to ${SUBSCRIBERS.toLocaleString('en-US')} of ${after.open.toLocaleString('en-US')} subscribers, from the commit of the scan to the last`,
      value: `${median(toLast).toFixed(0)} ms (worst of ${ROUNDS}: ${Math.max(...toLast).toFixed(0)} ms)`,
      against: 'goal: < 1,000 ms',
    },
    { what: 'of which from the first subscriber to the last', value: `${median(spread).toFixed(0)} ms`, against: '' },
    {
      what: 'memory of the server for each subscriber, RSS',
      value: kib(after.rss - before.rss),
      against: 'goal: < 10 KiB',
    },
    { what: 'of which JavaScript heap', value: kib(after.heap - before.heap), against: '' },
  ];
}

async function ask<Answer>(child: Child<unknown>, message: string): Promise<Answer> {
  const answer = once(child.process, 'message', { signal: AbortSignal.timeout(TIMEOUT_MS) });
  child.process.send(message);
  const [value] = (await answer) as [Answer];
  return value;
}
