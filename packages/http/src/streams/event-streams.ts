// A request that becomes an event stream: its headers, its place among the open ones, and what happens when it fails.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Callers } from '../access/callers.ts';
import type { KeyGate } from '../access/keys.ts';
import { Refusal } from '../problems/errors.ts';
import { commonHeaders } from '../responses/send-answer.ts';
import { type SseOptions, SseStreams, type SseSubscription, sseHeaders } from './sse.ts';
import type { StreamBounds, StreamCaller } from './stream-limits.ts';

export interface EventStreamsDeps {
  readonly gate: Pick<KeyGate, 'revision' | 'stillValid'>;
  readonly callers: Callers;
  readonly bounds: StreamBounds;
  readonly logger: Logger;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export class EventStreams {
  readonly #streams: SseStreams;
  readonly #deps: EventStreamsDeps;
  /** The gate's revision up to which streams of revoked keys were ended. */
  #endedAt: number | undefined;

  constructor(deps: EventStreamsDeps, options: SseOptions = {}) {
    this.#streams = new SseStreams(options);
    this.#deps = deps;
    this.#endedAt = deps.gate.revision?.();
  }

  get size(): number {
    return this.#streams.size;
  }

  closeAll(): void {
    this.#streams.closeAll();
  }

  /** Refuses one too many: 429 where the caller can close another one, else 503. */
  refuseFull(caller: StreamCaller): void {
    const met = this.#deps.bounds.met(caller);
    if (!met) return;
    const code = met.bound === 'streams-per-tier' ? 'unavailable' : 'quota_exceeded';
    throw new Refusal(code, met.detail, { headers: { 'retry-after': '30' } });
  }

  /** Ends the streams of keys that were revoked since the last call. Rejects as the gate does, and then the next call does it. */
  async endRevoked(): Promise<void> {
    const { gate } = this.#deps;
    const revision = gate.revision?.();
    if (revision === this.#endedAt || !gate.stillValid) return;
    const asked = this.#streams.keyIds();
    if (asked.length > 0) {
      const valid = await gate.stillValid(asked);
      this.#streams.closeOf(new Set(asked.filter((id) => !valid.has(id))), 'the API key was revoked');
    }
    this.#endedAt = revision;
  }

  /**
   * Sends the headers and hands the stream to its subscription; refuses one too many, and one behind another request. The key is
   * checked again until the gate's revision stays the same, so that no revocation is missed: the next one ends the stream.
   */
  async serve(subscribe: SseSubscription, caller: StreamCaller, exchange: Exchange): Promise<FastifyReply> {
    const { gate, callers } = this.#deps;
    for (let revision = gate.revision?.(); caller.key; revision = gate.revision?.()) {
      await callers.identify(exchange.request);
      if (revision === gate.revision?.()) break;
    }
    return this.#open(subscribe, caller, exchange);
  }

  #open(subscribe: SseSubscription, caller: StreamCaller, { request, reply }: Exchange): FastifyReply {
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
    const lastEventId = typeof asked === 'string' ? asked.trim().slice(0, 64) : undefined;
    const client = this.#streams.open(socket, { lastEventId, keyId: caller.key?.id });
    client.onClose(this.#deps.bounds.take(caller));
    const { id } = request;
    // Whether it throws at once or rejects later, the headers are out: there is no problem to answer with any more.
    new Promise<void>((resolve) => resolve(subscribe(client))).catch((error: unknown) => {
      this.#deps.logger.error({ err: error, requestId: id }, 'a stream failed');
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
