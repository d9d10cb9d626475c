// Limits pipelined requests (RFC 9112, 9.3.2). Node parses all requests in a packet, possibly a thousand, before it
// stops reading: as many responses would be held in memory until the client reads them.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Browsers and nearly all programs send one at a time. */
const MAX_WAITING = 16;

/** Returns whether a request may be answered; closes a connection with too many waiting requests. */
export function createPipelineLimit(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const waiting = new WeakMap<Socket, number>();
  return ({ socket }, response) => {
    if (socket.destroyed) return false;
    // The response owns the socket: no other response is before it.
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
