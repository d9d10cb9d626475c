// How a service reports errors, and the responses to what is not a request.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface ErrorFormat {
  /** Responds with an error: a `Refusal` of the server, an error of the service or of Fastify, or a bug. */
  send(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>;
  /** The JSON body of the response to bytes that are not a request; without it the response has no body. */
  unreadBody?(message: string): string;
}

const UNREAD: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};

/** Not HTTP, headers above Node's limit, or too slow: there is no request to answer in the usual way. */
export function refuseUnread(errors: ErrorFormat, { code = '' }: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, message] = UNREAD[code] ?? ['400 Bad Request', 'The request is not valid HTTP.'];
  const body = errors.unreadBody?.(message) ?? '';
  const type = body === '' ? '' : 'content-type: application/json; charset=utf-8\r\n';
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`;
  socket.end(`HTTP/1.1 ${status}\r\n${type}${length}connection: close\r\n\r\n${body}`);
}
