// Runs a route table as a server: authentication, input validation, cached responses, one error mapper, and limits.
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { Callers } from './access/callers.ts';
import { type HostGuard, refusalCodeOf } from './access/host-guard.ts';
import { KeyCheck, type KeyGate } from './access/keys.ts';
import { addSecurityHeaders } from './access/security-headers.ts';
import { parseInput } from './input.ts';
import { type ConnectionLimits, DEFAULT_BOUNDS } from './limits/connection-settings.ts';
import { countedAddress } from './limits/counted-address.ts';
import { countedCache } from './limits/counted-cache.ts';
import { createPipelineLimit } from './limits/pipeline-limit.ts';
import type { Metrics } from './operations/metrics.ts';
import { PendingWork } from './operations/pending-work.ts';
import { traceRequests } from './operations/trace-requests.ts';
import { type ErrorCode, Refusal } from './problems/errors.ts';
import type { IsUnavailable } from './problems/problem.ts';
import { createProblemSender, refuseUnread } from './problems/problem-sender.ts';
import type { AnswerCache, ReadyAnswer } from './responses/answer-cache.ts';
import { answerOf } from './responses/make-answer.ts';
import type { Notary } from './responses/notary.ts';
import { commonHeaders, sendAtOnce, sendBytes, sendReady } from './responses/send-answer.ts';
import type { ApiKey, Bytes, RequestContext, Route } from './route.ts';
import { sendMissingPage } from './site.ts';
import { EventStreams } from './streams/event-streams.ts';
import type { SseOptions, SseSubscription } from './streams/sse.ts';
import { limitClients } from './streams/stream-limits.ts';

export interface HttpServerDeps<App> {
  readonly app: App;
  readonly routes: readonly Route<App>[];
  readonly notary: Notary;
  readonly keys: KeyGate;
  readonly answers: AnswerCache;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly now?: () => Date;
  /** Proxies whose X-Forwarded-For is trusted (addresses or CIDRs); none by default. */
  readonly trustedProxies?: readonly string[];
  /** Errors that are answered with 503 instead of being logged as bugs; none by default. */
  readonly isUnavailable?: IsUnavailable;
  /** Restricts Host and Origin of requests; unrestricted by default. */
  readonly hostGuard?: HostGuard;
  /** Limits of connections and streams; the defaults are for production. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Limits of one event stream; the defaults are for production. */
  readonly sse?: SseOptions;
  /** Client timeouts; the defaults are for production. */
  readonly timeouts?: Partial<ClientTimeouts>;
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

export interface HttpServer extends AsyncDisposable {
  /** Resolves with the port when the server listens. */
  listen(options: { readonly host: string; readonly port: number }): Promise<number>;
  /**
   * Ends the streams of keys revoked since the gate's last revision; does nothing if it is unchanged. Rejects as the
   * gate does; the next call then retries.
   */
  endRevokedStreams(): Promise<void>;
  /** For tests and plugins: the Fastify instance before it listens. */
  readonly fastify: FastifyInstance;
}

/** Maximum URL length, total header size and body size. */
const limits = { urlLength: 8_192, headerBytes: 16_384, bodyBytes: 65_536, shutdownMs: 10_000, sweepMs: 50 } as const;
const PATIENCE: ClientTimeouts = { headersMs: 10_000, requestMs: 15_000, idleMs: 60_000, checkMs: 5_000 };

const requestIdPattern = /^[A-Za-z0-9._-]{8,64}$/;

export function createHttpServer<App>(deps: HttpServerDeps<App>): HttpServer {
  const { app, logger, metrics, notary, answers, now = () => new Date() } = deps;
  const keys = new KeyCheck(deps.keys, now);
  const callers = new Callers(keys);
  const sendProblem = createProblemSender({
    ...{ notary, logger, now, isUnavailable: deps.isUnavailable },
    callerOf: (request) => callers.of(request),
  });
  const patience = { ...PATIENCE, ...deps.timeouts };
  const pending = new PendingWork();
  const fastify = Fastify({
    // No logger here: with one, Fastify creates a child logger and two listeners for every request, which cost more
    // than the rest of a cached response. Its warnings reach ours through `reply.log`, off the hot path.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: deps.trustedProxies?.length ? [...deps.trustedProxies] : false,
    bodyLimit: limits.bodyBytes,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: patience.headersMs,
      connectionsCheckingInterval: patience.checkMs,
    },
    requestTimeout: patience.requestMs,
    connectionTimeout: patience.idleMs,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 2_000, ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    // Requests on open connections are answered as usual, with `connection: close`, not with an unsigned 503.
    return503OnClosing: false,
    requestIdHeader: false,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && requestIdPattern.test(given) ? given : randomUUID();
    },
    clientErrorHandler: refuseUnread,
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply),
  });

  traceRequests(fastify);
  const { connections, streams: bounds } = limitClients(fastify.server, {
    bounds: { ...DEFAULT_BOUNDS, ...deps.limits },
    trustedProxies: deps.trustedProxies,
    logger,
    metrics,
  });
  const streams = new EventStreams({ gate: deps.keys, callers, bounds, logger }, deps.sse);
  metrics.gauge('strata_open_streams', 'Open event streams', () => streams.size);

  // Bodies are JSON or absent; Fastify would also accept plain text.
  fastify.removeContentTypeParser('text/plain');

  // Cache keys by URL: a key depends on path and query only, so each URL is parsed once.
  const cacheKeysByUrl = countedCache<string>(50_000);
  const methodsByPath = new Map<string, string[]>();
  for (const each of deps.routes) addRoute(each);
  for (const [url, methods] of methodsByPath) addOtherMethods(url, methods);

  const unmatched = metrics.routeMeter('*', 'unmatched');
  fastify.setNotFoundHandler((request, reply) => {
    const startedAt = performance.now();
    reply.raw.once('close', () => unmatched(reply.statusCode, performance.now() - startedAt));
    const missing = sendMissingPage(fastify, request, reply);
    if (missing) return missing;
    return sendProblem(new Refusal('not_found'), request, reply);
  });
  fastify.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  fastify.addHook('onSend', async (_request, reply) => addSecurityHeaders(reply));
  const isWithinLimit = createPipelineLimit();
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isWithinLimit(request.raw, reply.raw)) return void reply.hijack();
    if (connections.isExcess(request.raw)) return done(tooManyConnections());
    const away = deps.hostGuard?.rejectionOf(request);
    if (away) done(new Refusal(refusalCodeOf(away) ?? 'invalid_parameter', away.detail));
    else if (request.raw.url !== undefined && request.raw.url.length > limits.urlLength) {
      done(new Refusal('uri_too_long', `The URL is longer than ${limits.urlLength} bytes.`));
    } else done();
  });

  function addRoute(each: Route<App>): void {
    const { contract } = each;
    if (contract.cache && contract.method !== 'GET')
      throw new TypeError(`${contract.path}: only GET responses are cached`);
    const url = contract.path.replaceAll(/\{(\w+)\*\}/g, '*').replaceAll(/\{(\w+)\}/g, ':$1');
    methodsByPath.set(url, [...(methodsByPath.get(url) ?? []), contract.method]);
    const meter = metrics.routeMeter(contract.method, contract.path);
    fastify.route({
      method: contract.method,
      url,
      // HEAD runs the same handler and costs one request of the quota as well. It is counted with GET in the metrics.
      exposeHeadRoute: contract.method === 'GET',
      handler: (request, reply) => {
        const startedAt = performance.now();
        const meterAtEnd = () => reply.raw.once('close', () => meter(reply.statusCode, performance.now() - startedAt));
        // Other methods share the URL with GET, and must not get its response.
        const ready = contract.cache && readyAnswer(contract, request);
        const status = ready && sendAtOnce(request, reply, ready);
        if (status !== undefined) {
          meter(status, performance.now() - startedAt);
          return reply;
        }
        reply.log = logger as FastifyBaseLogger;
        if (contract.output.kind === 'events') {
          // Metered at its start, so that no closure retains the request. Refusals are metered when they are sent.
          return pending.add(answer(each, request, reply)).then(
            (begun) => {
              meter(reply.raw.statusCode, performance.now() - startedAt);
              return begun;
            },
            (error: unknown) => {
              meterAtEnd();
              throw error;
            },
          );
        }
        meterAtEnd();
        return pending.add(answer(each, request, reply));
      },
    });
  }

  /**
   * The hot path: the URL was answered before, its response is still cached, and the caller's key was cached recently and
   * is not counted. Everything else takes the full path, refusals too.
   */
  function readyAnswer({ access }: Route<App>['contract'], request: FastifyRequest): ReadyAnswer | undefined {
    const cacheKey = request.raw.url === undefined ? undefined : cacheKeysByUrl.get(request.raw.url);
    if (cacheKey === undefined) return undefined;
    if (access === 'key' && !keys.isKnownUncounted(request.headers['x-stack-key'])) return undefined;
    return answers.get(cacheKey);
  }

  async function answer(each: Route<App>, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { contract } = each;
    // A cross-site POST would act on behalf of the user, and use up the limits of the user's address.
    if (contract.method === 'POST' && contract.access === 'open' && deps.hostGuard?.isCrossSite(request))
      throw new Refusal('foreign_page');
    const identified = contract.access === 'key' ? callers.identify(request) : undefined;
    const key = identified instanceof Promise ? await identified : identified;
    const context = contextOf(request, key);
    const input = parseInput(contract, request);
    const { output } = contract;
    const isKept = output.kind === 'signed' || output.kind === 'csv';
    const policy = isKept && contract.cache?.(app, input as never, context);
    // A refused stream is not counted.
    if (output.kind === 'events' && request.method !== 'HEAD') streams.refuseFull(context);
    if (key && key.dailyLimit !== null) reply.headers(await keys.count(key));
    if (!policy) return sendResult(each, await each.handler(app, input, context), { context, request, reply });
    const ready =
      answers.get(policy.key) ??
      (await answers.compute(policy, async (resetReads) => {
        const data = await each.handler(app, input, Object.assign(context, { resetReads }));
        return answerOf(output, notary, data);
      }));
    // Longer URLs are rarely repeated, and would let a client fill the memory.
    if (request.raw.url !== undefined && request.raw.url.length <= 512) cacheKeysByUrl.set(request.raw.url, policy.key);
    return sendReady(request, reply, ready);
  }

  /** HEAD comes with GET; OPTIONS lists the allowed methods; every other method gets 405 with the allowed methods. */
  function addOtherMethods(url: string, methods: readonly string[]): void {
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
    const refusal = new Refusal('method_not_allowed', undefined, { headers: { allow } });
    const disallowed = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'].filter((method) => !methods.includes(method));
    fastify.route({
      method: disallowed.filter((method) => fastify.supportedMethods.includes(method)),
      url,
      exposeHeadRoute: false,
      // Before the body is read: it is irrelevant for a disallowed method.
      onRequest: async (request, reply) => sendProblem(refusal, request, reply),
      handler: (_request, reply) => reply,
    });
    fastify.options(url, (request, reply) =>
      reply
        .headers({
          ...commonHeaders,
          allow,
          'access-control-allow-methods': allow,
          'access-control-allow-headers': 'x-stack-key, content-type, if-none-match, last-event-id, x-request-id',
          'access-control-max-age': '86400',
          'x-request-id': request.id,
        })
        .code(204)
        .send(),
    );
  }

  function contextOf(request: FastifyRequest, key: ApiKey | undefined): RequestContext {
    return {
      requestId: request.id,
      address: countedAddress(request.ip),
      key,
      get signal() {
        return request.signal;
      },
      resetReads: () => {},
      refuse: (code: ErrorCode, detail, options) => {
        throw new Refusal(code, detail, options);
      },
    };
  }

  async function sendResult(
    each: Route<App>,
    result: unknown,
    { context, request, reply }: { context: RequestContext; request: FastifyRequest; reply: FastifyReply },
  ) {
    const { output } = each.contract;
    switch (output.kind) {
      case 'signed':
      case 'csv':
        return sendReady(request, reply, await answerOf(output, notary, result));
      case 'json':
        return sendBytes(request, reply, {
          bytes: JSON.stringify(result),
          contentType: output.contentType ?? 'application/json; charset=utf-8',
        });
      case 'events':
        return streams.serve(result as SseSubscription, context, { request, reply });
      case 'bytes':
        return sendBytes(request, reply, { contentType: output.contentType, ...(result as Bytes) });
      default:
        return output satisfies never;
    }
  }

  return {
    fastify,
    endRevokedStreams: () => streams.endRevoked(),
    async listen({ host, port }) {
      await fastify.listen({ host, port });
      return (fastify.server.address() as AddressInfo).port;
    },
    async [Symbol.asyncDispose]() {
      streams.closeAll();
      // In-flight requests get time to finish; remaining connections are then closed.
      const cut = setTimeout(() => fastify.server.closeAllConnections(), limits.shutdownMs);
      // Connections that were busy when the server began to close become idle later: check again.
      const sweep = setInterval(() => {
        fastify.server.closeIdleConnections();
        connections.closeSpare();
      }, limits.sweepMs);
      try {
        await fastify.close();
      } finally {
        clearInterval(sweep);
        clearTimeout(cut);
      }
      await pending.ended(limits.shutdownMs);
    },
  };
}

/** A retry may find a free connection. */
const tooManyConnections = () =>
  new Refusal('unavailable', 'Too many connections are open.', {
    headers: { 'retry-after': '5', connection: 'close' },
  });
