// A TCP proxy that can reset, silence or delay its connections.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

type LinkState =
  | { readonly kind: 'ok' }
  /** Connections break at once, and new ones are broken. */
  | { readonly kind: 'reset' }
  /**
   * No data passes, and neither side is notified. What was connected before is forgotten for good, as by a restarted firewall;
   * the server finds out when the link is ok again, as by its keep-alive.
   */
  | {
      readonly kind: 'silent';
      /** Only for clients with this address. */
      readonly from?: string;
    }
  /** Each answer comes so much later. */
  | { readonly kind: 'slow'; readonly ms: number };

/** The server of an address behind another `url`: `accept` passes on what a client and the server send. */
export async function startTcpProxy(server: string, accept: (client: Socket, upstream: Socket) => void) {
  const { hostname, port } = new URL(server);
  const sockets = new Set<Socket>();
  const proxy = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(port), host: hostname, noDelay: true });
    for (const socket of [client, upstream])
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    accept(client, upstream);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = new URL(server);
  address.port = String((proxy.address() as AddressInfo).port);
  return {
    ...{ url: address.href, sockets },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

export type BadLink = Awaited<ReturnType<typeof startBadLink>>;

export async function startBadLink(server: string) {
  let state: LinkState = { kind: 'ok' };
  const upstreams = new WeakSet<Socket>();
  const forgotten = new WeakSet<Socket>();
  /** Of both sides of a connection: the address of its client. */
  const clients = new WeakMap<Socket, string>();
  const isSilent = (socket: Socket) =>
    state.kind === 'silent' && (state.from === undefined || state.from === clients.get(socket));
  const proxy = await startTcpProxy(server, (client, upstream) => {
    if (state.kind === 'reset') {
      upstream.destroy();
      return void client.resetAndDestroy();
    }
    upstreams.add(upstream);
    for (const socket of [client, upstream]) {
      clients.set(socket, client.remoteAddress ?? '');
      if (isSilent(socket)) forgotten.add(socket);
    }
    const isThrough = () => !forgotten.has(client);
    client.on('data', (bytes) => isThrough() && upstream.write(bytes));
    upstream.on('data', (bytes) => {
      if (!isThrough()) return;
      // Timers of one length fire in the order in which they were set.
      if (state.kind === 'slow') setTimeout(() => isThrough() && client.write(bytes), state.ms);
      else client.write(bytes);
    });
    upstream.on('close', () => isThrough() && client.destroy());
    client.on('close', () => isThrough() && upstream.destroy());
  });
  return Object.assign(proxy, {
    become(next: LinkState) {
      state = next;
      for (const socket of proxy.sockets) {
        if (isSilent(socket)) forgotten.add(socket);
        else if (next.kind !== 'silent' && forgotten.has(socket) && upstreams.has(socket)) socket.destroy();
        if (next.kind === 'reset') socket.resetAndDestroy();
      }
    },
  });
}
