// A server whose responses are signed: keys in `X-Stack-Key`, problems, receipts, cached responses and event streams.
import { Callers } from './access/callers.ts';
import { KeyCheck, type KeyGate } from './access/keys.ts';
import type { UnavailableDetail } from './problems/problem.ts';
import { createProblemSender } from './problems/problem-sender.ts';
import type { AnswerCache, CachePolicy } from './responses/answer-cache.ts';
import type { Notary } from './responses/notary.ts';
import { commonHeaders } from './responses/send-answer.ts';
import { type ExpandInput, SignedResponder } from './responses/signed-responder.ts';
import type { KeyUse, Route } from './route.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';
import { EventStreams, type SseOptions } from './streams/event-streams.ts';

export interface SignedServerDeps<App>
  extends Pick<HttpServerOptions, 'logger' | 'metrics' | 'trustedProxies' | 'hostGuard' | 'limits' | 'timeouts'> {
  readonly app: App;
  readonly routes: readonly Route<App>[];
  readonly notary: Notary;
  readonly keys: KeyGate;
  readonly answers: AnswerCache;
  readonly now?: () => Date;
  /** Receives each answered request that has a key, for the usage of keys. */
  readonly noteUse?: (use: KeyUse) => void;
  readonly expandInput?: ExpandInput<App>;
  /** Headers of a response that is cached; called before it is computed. */
  readonly headersOf?: ((policy: CachePolicy) => Readonly<Record<string, string>>) | undefined;
  /** Errors that are answered with 503 instead of being logged as bugs; none by default. */
  readonly unavailableDetail?: UnavailableDetail;
  /** Limits of one event stream; the defaults are for production. */
  readonly sse?: SseOptions;
}

export interface SignedServer extends HttpServer {
  /**
   * Ends the streams of keys revoked since the gate's last revision; does nothing if it is unchanged. Rejects as the
   * gate does; the next call then retries.
   */
  endRevokedStreams(): Promise<void>;
}

const ALLOWED_HEADERS = 'x-stack-key, content-type, if-none-match, last-event-id, x-request-id, range, if-range';

/** Throws TypeError for a route that caches responses to anything but GET. */
export function createSignedServer<App>(deps: SignedServerDeps<App>): SignedServer {
  const { app, routes, notary, answers, logger, metrics, hostGuard, unavailableDetail, noteUse, expandInput } = deps;
  const { now = () => new Date(), headersOf } = deps;
  for (const { contract } of routes)
    if (contract.cache && contract.method !== 'GET')
      throw new TypeError(`${contract.path}: only GET responses are cached`);
  const keys = new KeyCheck(deps.keys, now);
  const callers = new Callers(keys);
  const callerOf = callers.of.bind(callers);
  const server = createHttpServer({
    ...deps,
    errors: { send: createProblemSender({ notary, logger, now, unavailableDetail, callerOf }) },
    crossOrigin: { headers: commonHeaders, allowedHeaders: ALLOWED_HEADERS },
    ignoresTrailingSlash: true,
    onStopping: () => streams.closeAll(),
  });
  const streams = new EventStreams({ gate: deps.keys, callers, limits: server.streams, logger }, deps.sse);
  metrics.gauge('strata_open_streams', 'Open event streams', () => streams.size);
  const responder = { app, notary, answers, keys, callers, streams, hostGuard, noteUse, expandInput, headersOf };
  server.addRoutes(routes, new SignedResponder(responder));
  return { ...server, endRevokedStreams: () => streams.endRevoked() };
}
