// What @strata/http offers: routes, the server, the OpenAPI document, and the seams that a service fills.
export { AnswerCache, type ReadyAnswer } from './answer-cache.ts';
export { BoundEnvironment, type Bounds, boundsOf } from './bounds.ts';
export { Connections, type Figures } from './connections.ts';
export { type CountedNetwork, countedAddress, countedNetworks } from './counted-address.ts';
export { countedCache } from './counted-cache.ts';
export type { Csv, CsvColumn } from './csv.ts';
export {
  AddressRange,
  DatabaseUrl,
  HostName,
  List,
  PoolSize,
  readEnvironment,
  WebAddress,
} from './environment.ts';
export { ERRORS, type ErrorCode, Refusal } from './errors.ts';
export { createFrontDoor, type FrontDoor, refusalCodeOf } from './front-door.ts';
export { GuessLimit } from './guess-limit.ts';
export type { KeyGate } from './keys.ts';
export { createLogger, withoutApiKeys } from './logger.ts';
export { Metrics, serveMetrics } from './metrics.ts';
export { NOTICE, type Notary } from './notary.ts';
export { type ApiInfo, openApiDocument } from './openapi.ts';
export { createPipelineLimit } from './pipelining.ts';
export { RateWindow, type RateWindowOptions } from './rate-window.ts';
export { canSign, NotReady, Readiness, type ReadinessChecks, type ReadinessReport } from './readiness.ts';
export { RefusalLog } from './refusal-log.ts';
export { type ApiKey, type Bytes, type RequestContext, type Route, refuse, route } from './route.ts';
export { addSecurityHeaders, answerSecurity } from './security-headers.ts';
export { createHttpServer, type HttpServer, type HttpServerDeps, type Patience } from './server.ts';
export { openedAt, urlAt } from './service-url.ts';
export { type Site, serveSite } from './site.ts';
export { formatSse, formatSsePlace, type SseClient, type SseOptions, type SseSubscription } from './sse.ts';
export { boundClients, type MetBound } from './stream-bounds.ts';
export { traceRequests } from './trace-requests.ts';
export { checkTracing, startTracing, TracingError } from './tracing.ts';
export { type WarmUpRequest, warmUp } from './warm-up.ts';
export {
  addWitnessMetrics,
  WitnessEnvironment,
  type WitnessSettings,
  witnessesOf,
  witnessFacts,
  witnessProblem,
} from './witnesses.ts';
