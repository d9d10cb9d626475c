// Requests that a client sends before it has read the answers to the ones before (RFC 9112, 9.3.2). Node parses all that came in
// one packet, some thousand, before it stops reading: as many answers would lie in memory until somebody takes them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Browsers send one at a time, and so do nearly all programs. */
const MAX_WAITING = 16;

/** Says whether a request may be answered; a connection on which too many wait is cut. */
export function createPipelineLimit(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }, response) => {
    if (socket.destroyed) return false;
    // It has the connection: nobody is before it.
    if (response.socket === socket) return true;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) {
      socket.destroy();
      return false;
    }
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    return true;
  };
}
