// Many subscribers of the event stream on raw sockets. Each knows its first position and must receive every event since, once and in order.
// Records when each subscriber has received each event completely.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { childArgument, quantile, reportReady } from '../measure.ts';

export interface SubscribersOptions {
  readonly port: number;
  readonly key: string;
  readonly count: number;
}

/** Sent at the end. */
export interface PublishedEvents {
  /** Number in the stream, and when its subject was committed, in milliseconds since the epoch. */
  readonly events: readonly { readonly seq: number; readonly recordedAt: number }[];
}

export interface Judgement {
  readonly received: number;
  /** Events that a subscriber has lost, or had twice. */
  readonly lost: number;
  readonly outOfOrder: number;
  readonly closed: number;
  /** From the commit of the scan to a subscriber, and to the last one: p50, p99, max, in milliseconds. */
  readonly toEach: readonly number[];
  readonly toLast: readonly number[];
}

interface Subscriber {
  readonly socket: Socket;
  rest: string;
  /** The position announced at the beginning, and the last event. */
  startsAfter: number;
  last: number;
  count: number;
}

const { port, key, count } = childArgument<SubscribersOptions>();
const subscribers: Subscriber[] = [];
const arrivals = new Map<number, number[]>();
let outOfOrder = 0;
let closed = 0;
let isLeaving = false;

function onData(subscriber: Subscriber, chunk: Buffer): void {
  const now = performance.timeOrigin + performance.now();
  const blocks = (subscriber.rest + chunk.toString('latin1')).split('\n\n');
  subscriber.rest = blocks.pop() ?? '';
  for (const block of blocks) {
    if (!block.startsWith('id: ')) continue;
    const id = Number(block.slice(4, block.indexOf('\n') < 0 ? undefined : block.indexOf('\n')));
    if (!block.includes('\n')) {
      subscriber.startsAfter = id;
      subscriber.last = id;
      continue;
    }
    if (!(id > subscriber.last)) outOfOrder += 1;
    subscriber.last = id;
    subscriber.count += 1;
    const of = arrivals.get(id);
    if (of) of.push(now);
    else arrivals.set(id, [now]);
  }
}

const request = `GET /stack/v1/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nx-stack-key: ${key}\r\n\r\n`;
/** So many connections at once: more would overflow the listening queue. */
const AT_ONCE = 200;
for (let from = 0; from < count; from += AT_ONCE) {
  const batch = Array.from({ length: Math.min(AT_ONCE, count - from) }, () => connect(port, '127.0.0.1'));
  await Promise.all(batch.map(join));
}

async function join(socket: Socket): Promise<void> {
  await once(socket, 'connect');
  const subscriber: Subscriber = { socket, rest: '', startsAfter: Number.NaN, last: Number.NaN, count: 0 };
  subscribers.push(subscriber);
  socket.write(request);
  const [head] = (await once(socket, 'data')) as [Buffer];
  if (!head.toString().startsWith('HTTP/1.1 200')) throw new Error(head.toString().slice(0, 200));
  socket.on('data', (chunk) => onData(subscriber, chunk));
  onData(subscriber, head.subarray(head.indexOf('\r\n\r\n') + 4));
  socket.once('close', () => {
    if (!isLeaving) closed += 1;
  });
}

function judge({ events }: PublishedEvents): Judgement {
  const known = new Set(events.map(({ seq }) => seq));
  const since = (startsAfter: number) => events.filter(({ seq }) => seq > startsAfter).length;
  const dueAfter = new Map<number, number>();
  let lost = 0;
  for (const { startsAfter, count: received } of subscribers) {
    const due = dueAfter.get(startsAfter) ?? since(startsAfter);
    dueAfter.set(startsAfter, due);
    lost += Math.abs(due - received);
  }
  const complete = events.map(({ seq, recordedAt }) => (arrivals.get(seq) ?? []).map((at) => at - recordedAt));
  const figures = (values: readonly number[]) => [0.5, 0.99, 1].map((share) => quantile(values, share));
  return {
    received: subscribers.reduce((sum, each) => sum + each.count, 0),
    lost: lost + [...arrivals.keys()].filter((id) => !known.has(id)).length,
    ...{ outOfOrder, closed },
    toEach: figures(complete.flat()),
    toLast: figures(complete.flatMap((delays) => delays.at(-1) ?? [])),
  };
}

process.on('message', (message: PublishedEvents | 'received') => {
  if (message === 'received') process.send?.(subscribers.map(({ last }) => last).reduce((a, b) => Math.min(a, b)));
  else process.send?.(judge(message));
});
reportReady({ open: subscribers.length }, async () => {
  isLeaving = true;
  for (const { socket } of subscribers) socket.destroy();
});
