// A way between two hosts over TCP with a delay, that can fall silent: what was sent into it is held, and no end tells of it.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface SlowLink extends AsyncDisposable {
  readonly port: number;
  /** Nothing passes any more, and nobody is told. */
  cut(): void;
  /** What was held passes. */
  heal(): void;
}

/** Connections to the port that it gives go on to the other one, each byte `delayMs` later, in order. */
export async function openSlowLink(to: number, { delayMs = 0 }: { readonly delayMs?: number } = {}): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const held: (() => void)[] = [];
  const pass = (work: () => void) => (isCut ? held.push(work) : work());
  const pipe = (from: Socket, into: Socket) => {
    sockets.add(from);
    from.on('data', (bytes) => setTimeout(() => pass(() => into.write(bytes)), delayMs));
    from.on('end', () => setTimeout(() => pass(() => into.end()), delayMs));
    from.on('error', () => pass(() => into.destroy()));
    from.on('close', () => {
      sockets.delete(from);
      pass(() => into.destroy());
    });
  };
  const server: Server = createServer((socket) => {
    const further = connect(to, '127.0.0.1');
    pipe(socket, further);
    pipe(further, socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      isCut = true;
    },
    heal() {
      isCut = false;
      for (const work of held.splice(0)) work();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
