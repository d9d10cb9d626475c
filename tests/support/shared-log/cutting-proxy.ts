// A way to the database that breaks at the worst moment: around a commit.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CuttingProxy extends AsyncDisposable {
  /** The same database, by this way. */
  readonly url: string;
  /** Breaks the connection of the next commit, which the server gets to see or not. */
  cutNextCommit(options: { readonly isSent: boolean }): void;
  /** How many were cut. */
  readonly cuts: number;
}

export async function startCuttingProxy(url: string): Promise<CuttingProxy> {
  const server = new URL(url);
  let armed: { readonly isSent: boolean } | undefined;
  let cuts = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(Number(server.port), server.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
    }
    let isCut = false;
    upstream.on('data', (bytes) => isCut || client.write(bytes));
    upstream.on('close', () => client.destroy());
    client.on('close', () => isCut || upstream.destroy());
    client.on('data', (bytes) => {
      // A simple query is one message: Q, its length, the text.
      if (!armed || !bytes.includes('commit\0')) return void upstream.write(bytes);
      isCut = true;
      cuts += 1;
      // What was sent is carried out: the server hears of the end after it.
      if (armed.isSent) upstream.end(bytes);
      else upstream.destroy();
      armed = undefined;
      client.destroy();
    });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = new URL(url);
  address.port = String((proxy.address() as AddressInfo).port);
  return {
    url: address.href,
    cutNextCommit(options) {
      armed = options;
    },
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
