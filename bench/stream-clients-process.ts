// Many subscribers of the event stream on raw sockets; tells when the last of them has an event.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tellReady } from './measure.ts';

const { port, key, count } = JSON.parse(process.argv[2] ?? '{}') as { port: number; key: string; count: number };
const sockets: Socket[] = [];
let waiting = 0;
let firstAt = 0n;

function onData(this: Socket, chunk: Buffer): void {
  if (waiting === 0 || !chunk.includes('event: migration')) return;
  const now = process.hrtime.bigint();
  if (waiting === count) firstAt = now;
  waiting -= 1;
  if (waiting === 0) process.send?.({ firstAt: String(firstAt), lastAt: String(now) });
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
      socket.on('data', onData);
      sockets.push(socket);
    }),
  );
}
process.on('message', () => {
  waiting = count;
  process.send?.({ isWaiting: true });
});
tellReady({ open: sockets.length }, async () => {
  for (const socket of sockets) socket.destroy();
});
