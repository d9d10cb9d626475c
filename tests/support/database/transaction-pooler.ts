// A pooler as PgBouncer in transaction mode is to its clients: all of them talk with one process of the server, a question at a time. For
// clients that wait for their answer before another asks.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Listens until disposed of; `url` is `to` through it. */
export async function startTransactionPooler(to: string): Promise<AsyncDisposable & { readonly url: string }> {
  const target = new URL(to);
  let server: Socket | undefined;
  let asking: Socket | undefined;
  /** What the server sent when the first client logged in. */
  let welcome = Buffer.alloc(0);
  const clients = new Set<Socket>();
  const pooler = createServer((client) => {
    clients.add(client);
    client.on('error', () => {});
    client.once('data', (startup) => {
      client.on('data', (bytes) => {
        // A client that leaves does not affect the remaining ones.
        if (bytes.subarray(0, 1).toString() === 'X') return;
        asking = client;
        server?.write(bytes);
      });
      if (server) return void client.write(welcome);
      asking = client;
      server = connect(Number(target.port), target.hostname);
      server.on('error', () => {});
      server.write(startup);
      let isWelcomed = false;
      server.on('data', (bytes) => {
        if (!isWelcomed) welcome = Buffer.concat([welcome, bytes]);
        // Ends with ReadyForQuery.
        isWelcomed ||= welcome.subarray(-6, -1).equals(Buffer.from([0x5a, 0, 0, 0, 5]));
        asking?.write(bytes);
      });
    });
  }).listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  const { port } = pooler.address() as AddressInfo;
  return {
    url: Object.assign(new URL(to), { port }).href,
    async [Symbol.asyncDispose]() {
      server?.destroy();
      for (const client of clients) client.destroy();
      pooler.close();
      await once(pooler, 'close');
    },
  };
}
