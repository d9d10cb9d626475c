// A network between clients and a server of this machine: it carries bytes, each way half of a round trip late, and so many a second.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Network {
  readonly roundTripMs: number;
  /** Of each connection, in each direction. */
  readonly bytesPerMs: number;
}

export const NEAR: Network = { roundTripMs: 0, bytesPerMs: Number.POSITIVE_INFINITY };

export interface DelayingProxy extends AsyncDisposable {
  /** The server's URL by way of the proxy. */
  readonly url: string;
  /** For bytes that come from now on. */
  network: Network;
}

export async function startDelayingProxy(to: string): Promise<DelayingProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket) => {
    sockets.add(from);
    const late = inOrder(() => proxy.network);
    from.setNoDelay(true);
    from.on('data', (bytes) => late(bytes.length, () => to.write(bytes)));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      late(0, () => to.destroy());
    });
  };
  const listener = createServer((client) => {
    const server = connect(Number(target.port), target.hostname);
    carry(client, server);
    carry(server, client);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const proxy: DelayingProxy = {
    url: Object.assign(new URL(to), { port }).href,
    network: NEAR,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
  return proxy;
}

/** One direction of a connection: later bytes never overtake earlier ones. */
function inOrder(network: () => Network): (bytes: number, deliver: () => void) => void {
  const waiting: { readonly at: number; readonly deliver: () => void }[] = [];
  let busyUntil = 0;
  const deliverDue = () => {
    while (waiting[0] && waiting[0].at <= performance.now()) waiting.shift()?.deliver();
    if (waiting[0]) setTimeout(deliverDue, Math.ceil(waiting[0].at - performance.now()));
  };
  return (bytes, deliver) => {
    const { roundTripMs, bytesPerMs } = network();
    busyUntil = Math.max(performance.now(), busyUntil) + bytes / bytesPerMs;
    waiting.push({ at: busyUntil + roundTripMs / 2, deliver });
    if (waiting.length === 1) deliverDue();
  };
}
