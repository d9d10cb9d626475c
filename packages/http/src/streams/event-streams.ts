// Converts a request into an event stream: headers, limits, and failures.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Callers } from '../access/callers.ts';
import type { KeyGate } from '../access/keys.ts';
import { Refusal } from '../problems/errors.ts';
import { commonHeaders } from '../responses/send-answer.ts';
import { type SseOptions, SseStreams, type SseSubscription, sseHeaders } from './sse.ts';
import type { StreamCaller, StreamLimits } from './stream-limits.ts';

interface EventStreamsDeps {
  readonly gate: Pick<KeyGate, 'revision' | 'stillValid'>;
  readonly callers: Callers;
  readonly limits: StreamLimits;
  readonly logger: Logger;
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export class EventStreams {
  readonly #streams: SseStreams;
  readonly #deps: EventStreamsDeps;
  /** The gate's revision up to which streams of revoked keys have been ended. */
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

  /** Refuses a stream above a limit: 429 if the caller can close another one, else 503. */
  refuseFull(caller: StreamCaller): void {
    const reached = this.#deps.limits.reachedLimit(caller);
    if (!reached) return;
    const code = reached.limit === 'streams-per-tier' ? 'unavailable' : 'quota_exceeded';
    throw new Refusal(code, reached.detail, { headers: { 'retry-after': '30' } });
  }

  /** Ends the streams of keys revoked since the last call. Rejects as the gate does; the next call then retries. */
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
   * Sends the headers and passes the stream to its subscription; refuses a stream above a limit, or behind another
   * request. The key is checked again until the gate's revision is stable, so that no revocation is missed: the next
   * one ends the stream.
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
    // Pipelined: another response still owns the connection, and might never release it.
    if (request.method !== 'HEAD' && reply.raw.socket !== socket) {
      throw new Refusal('unavailable', 'A stream needs a connection without other pending responses.');
    }
    reply.headers({ ...commonHeaders, ...sseHeaders, 'x-request-id': request.id });
    reply.hijack();
    const { raw } = reply;
    // Headers set on the reply, such as quota headers, must be copied to the raw response.
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
    if (request.method === 'HEAD') {
      raw.writeHead(200).end();
      return reply;
    }
    // The body ends with the connection, so it needs no framing, and the response object can be released: only the
    // sockets of ten thousand streams remain.
    raw.useChunkedEncodingByDefault = false;
    raw.shouldKeepAlive = false;
    raw.writeHead(200).flushHeaders();
    raw.detachSocket(socket);
    ignoreInput(socket);
    // Heartbeats detect a dead connection; silence of the client is normal.
    socket.setTimeout(0);
    const asked = request.headers['last-event-id'];
    const lastEventId = typeof asked === 'string' ? asked.trim().slice(0, 64) : undefined;
    const client = this.#streams.open(socket, { lastEventId, keyId: caller.key?.id });
    client.onClose(this.#deps.limits.take(caller));
    const { id } = request;
    // Whether it throws synchronously or rejects, the headers are sent: no problem response is possible.
    new Promise<void>((resolve) => resolve(subscribe(client))).catch((error: unknown) => {
      this.#deps.logger.error({ err: error, requestId: id }, 'a stream failed');
      client.close('the stream failed; reconnect with Last-Event-ID');
    });
    return reply;
  }
}

/**
 * Detaches the connection from the HTTP parser. The response to a second request would be written into the stream, and
 * Node, whose response object never ended, would throw an uncatchable error. A new listener replaces the parser; the
 * input is discarded, but must be read to detect the end of the connection.
 */
function ignoreInput(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.on('data', ignore);
}

const ignore = () => {};
