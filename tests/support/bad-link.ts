// A way over TCP to a server that can be cut, fall silent, lose its connections or be slow.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type LinkState =
  | { readonly kind: 'well' }
  /** Connections break at once, and new ones are broken. */
  | { readonly kind: 'reset' }
  /**
   * Nothing comes through, and nobody is told. What was connected before is forgotten for good, as by a firewall that starts anew;
   * the server finds out when the link is well again, as by its keep-alive.
   */
  | { readonly kind: 'silent' }
  /** Each answer comes so much later. */
  | { readonly kind: 'slow'; readonly ms: number };

export interface BadLink extends AsyncDisposable {
  /** The same server, by this way. */
  readonly url: string;
  become(state: LinkState): void;
}

export async function startBadLink(url: string): Promise<BadLink> {
  const server = new URL(url);
  let state: LinkState = { kind: 'well' };
  const sockets = new Set<Socket>();
  const upstreams = new WeakSet<Socket>();
  const forgotten = new Set<Socket>();
  const proxy = createServer({ noDelay: true }, (client) => {
    if (state.kind === 'reset') return void client.on('error', () => {}).resetAndDestroy();
    const upstream = connect({ port: Number(server.port), host: server.hostname, noDelay: true });
    upstreams.add(upstream);
    const both = [client, upstream] as const;
    const drop = (socket: Socket) => sockets.delete(socket) && forgotten.delete(socket);
    for (const socket of both) sockets.add(socket.on('error', () => {}).on('close', () => drop(socket)));
    if (state.kind === 'silent') for (const socket of both) forgotten.add(socket);
    let isLost = false;
    const isThrough = () => {
      isLost ||= forgotten.has(client);
      return !isLost;
    };
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
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = new URL(url);
  address.port = String((proxy.address() as AddressInfo).port);
  return {
    url: address.href,
    become(next) {
      state = next;
      if (next.kind === 'silent') for (const socket of sockets) forgotten.add(socket);
      else for (const socket of forgotten) if (upstreams.has(socket)) socket.destroy();
      if (next.kind === 'reset') for (const socket of sockets) socket.resetAndDestroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
