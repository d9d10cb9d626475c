// @strata/scan: the prober, the document fetcher, their resolver, and the rules for permitted addresses.

export { Resolver, type ResolverOptions } from './dns/resolver.ts';
export { labelOf } from './dns/upstream/exchange.ts';
export { createOptOut } from './probe/opt-out.ts';
export { createProber, type Prober } from './probe/prober.ts';
export { createAddressGuard } from './web/address-guard.ts';
export type { Downloaded } from './web/fetch/download.ts';
export { createFetcher, createNamedFetcher, type Fetcher } from './web/fetch/fetcher.ts';
export type { Fetched } from './web/fetch/web-walk.ts';
export type { Target } from './web/web-request.ts';
