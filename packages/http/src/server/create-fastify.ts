// Creates Fastify with the limits of requests: sizes, client timeouts and request ids; and the responses to what is not
// a request.
import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';

/** How a service reports errors. */
export interface ErrorFormat {
  /** Responds with an error: a `Refusal` of the server, an error of the service or of Fastify, or a bug. */
  send(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply>;
  /** The JSON body of the response to bytes that are not a request; without it the response has no body. */
  unreadBody?(message: string): string;
}

/** Milliseconds. */
export interface ClientTimeouts {
  /** From the first byte of a request to the end of its headers, and to the end of its body. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Idle timeout of a connection, including a response that is not read. */
  readonly idleMs: number;
  /** Interval of the timeout checks. */
  readonly checkMs: number;
}

export interface RequestLimits {
  /** Maximum size of a body. */
  readonly bodyBytes?: number;
  /** Client timeouts; the defaults are for production. */
  readonly timeouts?: Partial<ClientTimeouts> | undefined;
  /** No idle timeout until the response is sent: a connection may be idle for long while its answer is generated. */
  readonly hasSlowAnswers?: boolean;
  /** Proxies whose X-Forwarded-For is trusted (addresses or CIDRs); none by default. */
  readonly trustedProxies?: readonly string[] | undefined;
  readonly ignoresTrailingSlash?: boolean;
  /** Before the ids of requests that have none. */
  readonly requestIdPrefix?: string;
}

type RefuseUnroutable = NonNullable<FastifyServerOptions['frameworkErrors']>;

/** Maximum size of all headers together. */
const HEADER_BYTES = 16_384;
const BODY_BYTES = 65_536;
const TIMEOUTS: ClientTimeouts = { headersMs: 10_000, requestMs: 15_000, idleMs: 60_000, checkMs: 5_000 };
const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;

/** `refuseUnroutable` answers a request whose URL cannot be routed; no hooks run for it. */
export function createFastify(
  { errors, refuseUnroutable }: { errors: ErrorFormat; refuseUnroutable: RefuseUnroutable },
  limits: RequestLimits,
): FastifyInstance {
  const { bodyBytes = BODY_BYTES, hasSlowAnswers = false, ignoresTrailingSlash = false } = limits;
  const { trustedProxies, requestIdPrefix = '' } = limits;
  const timeouts = { ...TIMEOUTS, ...limits.timeouts };
  const fastify = Fastify({
    // No logger here: with one, Fastify creates a child logger and two listeners for every request, which cost more
    // than the rest of a cached response. Its warnings reach ours through `reply.log`, off the hot path.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies?.length ? [...trustedProxies] : false,
    bodyLimit: bodyBytes,
    http: {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: timeouts.headersMs,
      connectionsCheckingInterval: timeouts.checkMs,
    },
    requestTimeout: timeouts.requestMs,
    ...(hasSlowAnswers ? {} : { connectionTimeout: timeouts.idleMs }),
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 2_000, ignoreTrailingSlash: ignoresTrailingSlash },
    forceCloseConnections: 'idle',
    // Requests on open connections are answered as usual, with `connection: close`, not with an unsigned 503.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : requestIdPrefix + randomUUID();
    },
    clientErrorHandler: (error, socket) => refuseUnread(errors, error, socket),
    frameworkErrors: refuseUnroutable,
  });
  // Bodies are JSON or absent; Fastify would also accept plain text.
  fastify.removeContentTypeParser('text/plain');
  if (hasSlowAnswers) limitSlowReaders(fastify, timeouts.idleMs);
  return fastify;
}

/**
 * Disconnects a client that does not read its response. Node resets this timeout with the next request. Event streams
 * have their own timeout.
 */
function limitSlowReaders(fastify: FastifyInstance, idleMs: number): void {
  fastify.addHook('onSend', (request, _reply, payload, done) => {
    const { socket } = request.raw;
    // Requests injected by tests have no socket.
    if (socket instanceof Socket) socket.setTimeout(idleMs);
    done(null, payload);
  });
}

const UNREAD: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request did not arrive in time.'],
};

/** Not HTTP, headers above Node's limit, or too slow: there is no request to answer in the usual way. */
function refuseUnread(errors: ErrorFormat, { code = '' }: NodeJS.ErrnoException, socket: Socket): void {
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
