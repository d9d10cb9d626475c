// Many subscribers of the event stream on raw sockets. Each knows where it began and must have every event since, once and in order;
// of each event it is noted when each of them had the whole of it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { quantile, tellReady } from '../measure.ts';

export interface SubscribersOptions {
  readonly port: number;
  readonly key: string;
  readonly count: number;
}

/** Sent at the end. */
export interface ToldEvents {
  /** Number in the stream, and when it was committed: what it tells of, and the event itself. Milliseconds since the epoch. */
  readonly events: readonly { readonly seq: number; readonly seenAt: number; readonly toldAt: number }[];
}

export interface Judgement {
  readonly received: number;
  /** Events that somebody had whole, of those told. */
  readonly events: number;
  readonly lost: number;
  readonly outOfTurn: number;
  readonly closed: number;
  /** From the commit of the scan, and from that of the event, to a subscriber: p50, p99, the most. */
  readonly sinceSeen: readonly number[];
  readonly sinceTold: readonly number[];
  /** Of each event from its first subscriber to its last: p50, the most. */
  readonly spread: readonly number[];
}

interface Subscriber {
  readonly socket: Socket;
  rest: string;
  /** The place that it was told at the beginning, and the last event. */
  place: number;
  last: number;
  count: number;
}

const { port, key, count } = JSON.parse(process.argv[2] ?? '{}') as SubscribersOptions;
const subscribers: Subscriber[] = [];
const arrivals = new Map<number, number[]>();
let outOfTurn = 0;
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
      subscriber.place = id;
      subscriber.last = id;
      continue;
    }
    if (!(id > subscriber.last)) outOfTurn += 1;
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
  const subscriber: Subscriber = { socket, rest: '', place: Number.NaN, last: Number.NaN, count: 0 };
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

function judge({ events }: ToldEvents): Judgement {
  const known = new Set(events.map(({ seq }) => seq));
  const since = (place: number) => events.filter(({ seq }) => seq > place).length;
  const places = new Map<number, number>();
  let lost = 0;
  for (const { place, count: received } of subscribers) {
    const due = places.get(place) ?? since(place);
    places.set(place, due);
    lost += Math.abs(due - received);
  }
  const heard = events.flatMap((event) => {
    const at = arrivals.get(event.seq);
    return at ? [{ ...event, at, firstAt: at[0] ?? 0, lastAt: at.at(-1) ?? 0 }] : [];
  });
  const figures = (values: readonly number[]) => [quantile(values, 0.5), quantile(values, 0.99), quantile(values, 1)];
  return {
    received: subscribers.reduce((sum, each) => sum + each.count, 0),
    events: heard.length,
    lost: lost + [...arrivals.keys()].filter((id) => !known.has(id)).length,
    ...{ outOfTurn, closed },
    sinceSeen: figures(heard.flatMap(({ at, seenAt }) => at.map((each) => each - seenAt))),
    sinceTold: figures(heard.flatMap(({ at, toldAt }) => at.map((each) => each - toldAt))),
    spread: figures(heard.map(({ firstAt, lastAt }) => lastAt - firstAt)),
  };
}

process.on('message', (message: ToldEvents | 'received') => {
  if (message === 'received') process.send?.(subscribers.map(({ last }) => last).reduce((a, b) => Math.min(a, b)));
  else process.send?.(judge(message));
});
tellReady({ open: subscribers.length }, async () => {
  isLeaving = true;
  for (const { socket } of subscribers) socket.destroy();
});
