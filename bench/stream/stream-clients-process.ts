// Many subscribers of the event stream on raw sockets; reports when the last of them has received an event completely.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { reportReady } from '../measure.ts';

const { port, key, count } = JSON.parse(process.argv[2] ?? '{}') as { port: number; key: string; count: number };

interface Subscriber {
  readonly socket: Socket;
  /** The received beginning of an incomplete event. */
  begun: string;
  /** Rounds in which it has had its event. */
  received: number;
}

const subscribers: Subscriber[] = [];
/** No subscriber counts before the first round. */
let round = 0;
let missing = 0;
let firstAt = 0n;

const START = 'event: migration';

function onData(subscriber: Subscriber, chunk: Buffer): void {
  if (subscriber.received === round) return;
  const text = subscriber.begun + chunk.toString('latin1');
  const from = text.indexOf(START);
  if (from < 0 || text.indexOf('\n\n', from) < 0) {
    subscriber.begun = from < 0 ? text.slice(-START.length) : text.slice(from);
    return;
  }
  const now = process.hrtime.bigint();
  subscriber.begun = '';
  subscriber.received = round;
  if (missing === count) firstAt = now;
  missing -= 1;
  if (missing === 0) process.send?.({ firstAt: String(firstAt), lastAt: String(now) });
}

const request = `GET /stack/v1/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nx-stack-key: ${key}\r\n\r\n`;
/** So many connections at once: more would overflow the listening queue. */
const AT_ONCE = 200;
for (let from = 0; from < count; from += AT_ONCE) {
  const batch = Array.from({ length: Math.min(AT_ONCE, count - from) }, () => connect(port, '127.0.0.1'));
  await Promise.all(
    batch.map(async (socket) => {
      await once(socket, 'connect');
      socket.write(request);
      const [head] = (await once(socket, 'data')) as [Buffer];
      if (!head.toString().startsWith('HTTP/1.1 200')) throw new Error(head.toString().slice(0, 200));
      const subscriber: Subscriber = { socket, begun: '', received: 0 };
      socket.on('data', (chunk) => onData(subscriber, chunk));
      subscribers.push(subscriber);
    }),
  );
}
process.on('message', () => {
  round += 1;
  missing = count;
  process.send?.({ isWaiting: true });
});
reportReady({ open: subscribers.length }, async () => {
  for (const { socket } of subscribers) socket.destroy();
});
