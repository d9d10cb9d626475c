// A database proxy that breaks the connection around a commit.
import { startTcpProxy } from '../bad-link.ts';

export async function startCuttingProxy(database: string) {
  let armed: { readonly isSent: boolean } | undefined;
  let cuts = 0;
  const proxy = await startTcpProxy(database, (client, upstream) => {
    let isCut = false;
    upstream.on('data', (bytes) => isCut || client.write(bytes));
    upstream.on('close', () => client.destroy());
    client.on('close', () => isCut || upstream.destroy());
    client.on('data', (bytes) => {
      // A simple query is one message: Q, its length, the text.
      if (!armed || !bytes.includes('commit\0')) return void upstream.write(bytes);
      isCut = true;
      cuts += 1;
      // What was sent is carried out: the server receives the end after it.
      if (armed.isSent) upstream.end(bytes);
      else upstream.destroy();
      armed = undefined;
      client.destroy();
    });
  });
  return Object.assign(proxy, {
    cuts: () => cuts,
    /** Breaks the connection of the next commit, which the server gets to see or not. */
    cutNextCommit(options: { readonly isSent: boolean }) {
      armed = options;
    },
  });
}
