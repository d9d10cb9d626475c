// Connections on which nothing was ever sent: browsers open them in advance. To Node they are not idle, so a stop would wait.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface SpareConnections {
  closeAll(): void;
}

export function trackSpareConnections(server: Server): SpareConnections {
  const spare = new Set<Socket>();
  // One listener for all: there may be tens of thousands.
  const forget = function forget(this: Socket) {
    spare.delete(this);
  };
  server.on('connection', (socket: Socket) => {
    spare.add(socket);
    socket.once('close', forget);
  });
  server.on('request', ({ socket }) => {
    spare.delete(socket);
  });
  return {
    closeAll() {
      for (const socket of spare) socket.destroy();
    },
  };
}
