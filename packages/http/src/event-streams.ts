// A request that becomes an event stream: its headers, its place among the open ones, and what happens when it fails.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { Refusal } from './errors.ts';
import { commonHeaders } from './respond.ts';
import { type SseOptions, SseStreams, type SseSubscription, sseHeaders } from './sse.ts';
import type { StreamBounds, StreamCaller } from './stream-bounds.ts';

export class EventStreams {
  readonly #streams: SseStreams;
  readonly #bounds: StreamBounds;
  readonly #logger: Logger;

  constructor(
    { bounds, logger }: { readonly bounds: StreamBounds; readonly logger: Logger },
    options: SseOptions = {},
  ) {
    this.#streams = new SseStreams(options);
    this.#bounds = bounds;
    this.#logger = logger;
  }

  get size(): number {
    return this.#streams.size;
  }

  closeAll(): void {
    this.#streams.closeAll();
  }

  /** Refuses one too many: 429 where the caller can close another one, else 503. */
  refuseFull(caller: StreamCaller): void {
    const met = this.#bounds.met(caller);
    if (!met) return;
    const code = met.bound === 'streams-per-tier' ? 'unavailable' : 'quota_exceeded';
    throw new Refusal(code, met.detail, { headers: { 'retry-after': '30' } });
  }

  /** Sends the headers and hands the stream to its subscription; refuses one too many, and one behind another request. */
  serve(
    subscribe: SseSubscription,
    caller: StreamCaller,
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
  ): FastifyReply {
    const { socket } = request.raw;
    this.refuseFull(caller);
    // Pipelined: another answer has the connection still, and might never let go of it.
    if (request.method !== 'HEAD' && reply.raw.socket !== socket) {
      throw new Refusal('unavailable', 'A stream needs a connection that waits for no other answer.');
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
    raw.detachSocket(socket);
    ignoreInput(socket);
    // Heartbeats show whether it lives; a quiet hour is no reason to cut it.
    socket.setTimeout(0);
    const asked = request.headers['last-event-id'];
    const client = this.#streams.open(socket, typeof asked === 'string' ? asked.trim().slice(0, 64) : undefined);
    client.onClose(this.#bounds.take(caller));
    const { id } = request;
    // Whether it throws at once or rejects later, the headers are out: there is no problem to answer with any more.
    new Promise<void>((resolve) => resolve(subscribe(client))).catch((error: unknown) => {
      this.#logger.error({ err: error, requestId: id }, 'a stream failed');
      client.close('the stream failed; reconnect with Last-Event-ID');
    });
    return reply;
  }
}

/**
 * Keeps what the client still sends from the HTTP parser. A second request would be answered into the stream, and Node, which
 * knows of a response that never ended, would throw where nobody can catch it. A new listener takes the connection back from
 * the parser; what it reads is of no use, but without reading the end of the connection would go unnoticed.
 */
function ignoreInput(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.on('data', ignore);
}

const ignore = () => {};
