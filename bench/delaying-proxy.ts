// A network between a client and a server of this machine: it carries bytes, each way half of a round trip late.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface DelayingProxy extends AsyncDisposable {
  /** The server's URL by way of the proxy. */
  readonly url: string;
  /** For bytes that come from now on. */
  roundTripMs: number;
}

export async function startDelayingProxy(to: string): Promise<DelayingProxy> {
  const target = new URL(to);
  const sockets = new Set<Socket>();
  const carry = (from: Socket, to: Socket) => {
    sockets.add(from);
    // Later bytes never overtake earlier ones: timers of one delay end in the order in which they were set.
    const late = (work: () => void) =>
      void (proxy.roundTripMs === 0 ? work() : setTimeout(work, proxy.roundTripMs / 2));
    from.setNoDelay(true);
    from.on('data', (bytes) => late(() => to.write(bytes)));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      late(() => to.destroy());
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
    roundTripMs: 0,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
  return proxy;
}
