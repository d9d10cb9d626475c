// What @strata/http offers: routes, the server, the OpenAPI document, and the seams that a service fills.

export { createHostGuard, type HostGuard } from './access/host-guard.ts';
export { InvalidKeyLimit } from './access/invalid-key-limit.ts';
export type { KeyGate } from './access/keys.ts';
export { answerSecurity } from './access/security-headers.ts';
export { parseInput } from './input.ts';
export { addLedgerRoutes, ledgerRoutes } from './ledger-routes.ts';
export {
  type ConnectionLimits,
  connectionLimitsOf,
} from './limits/connection-settings.ts';
export { Connections } from './limits/connections.ts';
export { countedAddress, countedNetworks } from './limits/counted-address.ts';
export { countedCache } from './limits/counted-cache.ts';
export { type ApiInfo, openApiDocument } from './openapi.ts';
export { FailureLog } from './operations/failure-log.ts';
export { followKeys } from './operations/follow-keys.ts';
export { createLogger } from './operations/logger.ts';
export { Metrics, serveMetrics } from './operations/metrics.ts';
export { addModelMetrics } from './operations/model-metrics.ts';
export { canSign, Readiness } from './operations/readiness.ts';
export { ThrottledLog } from './operations/throttled-log.ts';
export { checkTracing, startTracing } from './operations/tracing.ts';
export { type WarmUpRequest, warmUp } from './operations/warm-up.ts';
export {
  addWitnessMetrics,
  WitnessEnvironment,
  witnessFacts,
} from './operations/witnesses.ts';
export { ERRORS, type ErrorCode, type FieldProblem, Refusal } from './problems/errors.ts';
export { givenText } from './problems/plain-message.ts';
export { refusalOf } from './problems/problem.ts';
export { AnswerCache, type CachePolicy } from './responses/answer-cache.ts';
export { NOTICE, type Notary } from './responses/notary.ts';
export {
  type Endpoint,
  type KeyUse,
  type Parsed,
  type RequestContext,
  type Route,
  refuse,
  route,
  type StoredFile,
} from './route.ts';
export type { Responder } from './server/add-routes.ts';
export type { ClientTimeouts, ErrorFormat } from './server/create-fastify.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './server.ts';
export { publicUrlOf, urlAt } from './service-url.ts';
export * from './settings/environment.ts';
export { itemsOf, splitItems } from './settings/items.ts';
export { loweredLimit } from './settings/lowered-limit.ts';
export { createSignedServer, type SignedServer, type SignedServerDeps } from './signed-server.ts';
export { serveSite } from './site.ts';
export type { SseOptions } from './streams/event-streams.ts';
export { formatSse, formatSseId, type SseClient } from './streams/sse.ts';
export type { ReachedLimit } from './streams/stream-limits.ts';
export { csvBytes } from './tables/csv.ts';
export { tableEncoder } from './tables/encode-table.ts';
export { type Cell, FILE_FORMATS, type FileFormat, type Row, TABLE_FORMATS, type TableColumn } from './tables/table.ts';
export { asUtf8 } from './text-encoding.ts';
export { isUserError, SettingsError, StartError } from './user-error.ts';
