// Servers of the simulated internet on loopback.
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';

/** Listens on the port, or one that the system chooses; the number of the port. */
export async function listen(server: Server, { port = 0, address = '127.0.0.1' } = {}): Promise<number> {
  server.listen(port, address);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Resolves when every connection is closed. */
export async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}
