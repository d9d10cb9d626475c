// Hooks that refuse a request before its route is known: each costs less than answering.
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { HostGuard } from '../access/host-guard.ts';
import type { Connections } from '../limits/connections.ts';
import { Refusal } from '../problems/errors.ts';

/** Requests that may wait on one connection; browsers and nearly all programs send one at a time. */
const MAX_WAITING = 16;
const MAX_URL_BYTES = 8_192;

/**
 * Closes connections with too many pipelined requests (RFC 9112, 9.3.2). Node parses all requests in a packet, possibly
 * a thousand, before it stops reading: as many responses would be held in memory until the client reads them.
 */
export function limitPipelining(fastify: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  fastify.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    // The response owns the socket: no other response is before it.
    if (!socket.destroyed && reply.raw.socket === socket) return done();
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) socket.destroy();
    if (socket.destroyed) return void reply.hijack();
    waiting.set(socket, count);
    reply.raw.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1));
    done();
  });
}

/** A retry may find a free connection. */
export function refuseExcess(fastify: FastifyInstance, connections: Pick<Connections, 'isExcess'>): void {
  const headers = { 'retry-after': '5', connection: 'close' };
  refuse(fastify, ({ raw }) =>
    connections.isExcess(raw) ? new Refusal('unavailable', 'Too many connections are open.', { headers }) : undefined,
  );
}

export function guardHosts(fastify: FastifyInstance, hostGuard: Pick<HostGuard, 'refusalOf'>): void {
  refuse(fastify, (request) => hostGuard.refusalOf(request));
}

export function limitUrls(fastify: FastifyInstance): void {
  refuse(fastify, ({ raw: { url = '' } }) =>
    url.length > MAX_URL_BYTES
      ? new Refusal('uri_too_long', `The URL is longer than ${MAX_URL_BYTES} bytes.`)
      : undefined,
  );
}

/** Refuses the requests for which `refusalOf` returns a refusal. */
function refuse(fastify: FastifyInstance, refusalOf: (request: FastifyRequest) => Refusal | undefined): void {
  fastify.addHook('onRequest', (request, _reply, done) => done(refusalOf(request)));
}
