// The open event streams: converts requests into them, with headers and limits, sends heartbeats, and ends them.
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Callers } from '../access/callers.ts';
import type { KeyGate } from '../access/keys.ts';
import { Refusal } from '../problems/errors.ts';
import { commonHeaders } from '../responses/send-answer.ts';
import { SocketClient, type SseSubscription, sseHeaders } from './sse.ts';
import type { StreamCaller, StreamLimits } from './stream-limits.ts';

export interface SseOptions {
  readonly heartbeatMs?: number;
  /** A client with more unsent bytes is dropped. */
  readonly maxBufferedBytes?: number;
}

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

/** Proxies close connections that are silent for a minute; the standard advises a comment about every 15 seconds. */
const HEARTBEAT_MS = 15_000;
const MAX_BUFFERED_BYTES = 256 * 1024;
const RETRY_MS = 3_000;

export class EventStreams {
  readonly #clients = new Set<SocketClient>();
  readonly #maxBufferedBytes: number;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #deps: EventStreamsDeps;
  /** The gate's revision up to which streams of revoked keys have been ended. */
  #endedAt: number;

  constructor(deps: EventStreamsDeps, options: SseOptions = {}) {
    const { heartbeatMs = HEARTBEAT_MS, maxBufferedBytes = MAX_BUFFERED_BYTES } = options;
    this.#deps = deps;
    this.#endedAt = deps.gate.revision();
    this.#maxBufferedBytes = maxBufferedBytes;
    // One buffer and one timer for all clients; a client that has not received the last heartbeat gets no other.
    const heartbeat = Buffer.from(': heartbeat\n\n');
    this.#heartbeat = setInterval(() => {
      for (const client of this.#clients) if (client.bufferedBytes === 0) client.write(heartbeat);
    }, heartbeatMs);
    this.#heartbeat.unref();
  }

  get size(): number {
    return this.#clients.size;
  }

  /** Ends every stream; a shutdown does not wait for clients. */
  closeAll(): void {
    clearInterval(this.#heartbeat);
    for (const client of this.#clients) client.close('the server is stopping');
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
    const revision = gate.revision();
    if (revision === this.#endedAt) return;
    const asked = new Set([...this.#clients].flatMap(({ keyId }) => keyId ?? []));
    const valid = asked.size > 0 ? await gate.stillValid([...asked]) : asked;
    for (const client of this.#clients)
      if (client.keyId !== undefined && asked.has(client.keyId) && !valid.has(client.keyId))
        client.close('the API key was revoked');
    this.#endedAt = revision;
  }

  /**
   * Sends the headers and passes the stream to its subscription; refuses a stream above a limit, or behind another
   * request. The key is checked again until the gate's revision is stable, so that no revocation is missed: the next
   * one ends the stream.
   */
  async serve(subscribe: SseSubscription, caller: StreamCaller, exchange: Exchange): Promise<FastifyReply> {
    const { gate, callers } = this.#deps;
    for (let revision = gate.revision(); caller.key; revision = gate.revision()) {
      await callers.identify(exchange.request);
      if (revision === gate.revision()) break;
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
    const client = new SocketClient(socket, {
      ...{ lastEventId, keyId: caller.key?.id, maxBufferedBytes: this.#maxBufferedBytes },
    });
    this.#clients.add(client);
    client.onClose(() => this.#clients.delete(client));
    client.onClose(this.#deps.limits.take(caller));
    client.write(`retry: ${RETRY_MS}\n\n`);
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
