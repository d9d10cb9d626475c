// A request that becomes an event stream: its headers, its place among the open ones, and what happens when it fails.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { Refusal } from './errors.ts';
import { commonHeaders } from './respond.ts';
import { type SseOptions, SseStreams, type SseSubscription, sseHeaders } from './sse.ts';

export class EventStreams {
  readonly #streams: SseStreams;
  readonly #logger: Logger;

  constructor(logger: Logger, options: SseOptions = {}) {
    this.#streams = new SseStreams(options);
    this.#logger = logger;
  }

  get size(): number {
    return this.#streams.size;
  }

  closeAll(): void {
    this.#streams.closeAll();
  }

  /** Sends the headers and hands the stream to its subscription; refuses one too many. */
  serve(subscribe: SseSubscription, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    if (this.#streams.isFull) {
      throw new Refusal('unavailable', 'Too many streams are open.', { headers: { 'retry-after': '30' } });
    }
    reply.headers({ ...commonHeaders, ...sseHeaders, 'x-request-id': request.id });
    reply.hijack();
    const { raw } = reply;
    // What was set on the reply before, quota headers too, is ours to send now.
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
    if (request.method === 'HEAD') {
      raw.writeHead(200).end();
      return reply;
    }
    // The body ends with the connection, so it needs no framing, and nothing of the response is needed any more: what stays of
    // ten thousand streams is their sockets.
    raw.useChunkedEncodingByDefault = false;
    raw.shouldKeepAlive = false;
    raw.writeHead(200).flushHeaders();
    const { socket } = request.raw;
    raw.detachSocket(socket);
    // Heartbeats show whether it lives; a quiet hour is no reason to cut it.
    socket.setTimeout(0);
    const asked = request.headers['last-event-id'];
    const client = this.#streams.open(socket, typeof asked === 'string' ? asked.trim().slice(0, 64) : undefined);
    const { id } = request;
    Promise.resolve(subscribe(client)).catch((error: unknown) => {
      this.#logger.error({ err: error, requestId: id }, 'a stream failed');
      client.close('the stream failed; reconnect with Last-Event-ID');
    });
    return reply;
  }
}
