// What @strata/http offers: routes, the server, the OpenAPI document, and the seams that a service fills.
export { AnswerCache, type ReadyAnswer } from './answer-cache.ts';
export { countedAddress } from './counted-address.ts';
export type { Csv, CsvColumn } from './csv.ts';
export { AddressRange, DatabaseUrl, List, PoolSize, readEnvironment, WebAddress } from './environment.ts';
export { ERRORS, type ErrorCode, Refusal } from './errors.ts';
export type { KeyGate } from './keys.ts';
export { createLogger } from './logger.ts';
export { type Figures, Metrics, serveMetrics } from './metrics.ts';
export { NOTICE, type Notary } from './notary.ts';
export { type ApiInfo, openApiDocument } from './openapi.ts';
export { Readiness, type ReadinessChecks, type ReadinessReport } from './readiness.ts';
export { type Rehearsal, rehearse } from './rehearse.ts';
export { type ApiKey, type Bytes, type RequestContext, type Route, refuse, route } from './route.ts';
export { createHttpServer, type HttpServer, type HttpServerParts } from './server.ts';
export { openedAt, urlAt } from './service-url.ts';
export { type Site, serveSite } from './site.ts';
export { trackSpareConnections } from './spare-connections.ts';
export { formatSse, formatSsePlace, type SseClient, type SseOptions, type SseSubscription } from './sse.ts';
