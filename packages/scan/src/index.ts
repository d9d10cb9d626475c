// @strata/scan: the prober, the document fetcher, their resolver, and the rules for permitted addresses.

export type { RecordOf, RecordType } from './dns/message/records.ts';
export { Resolver, type ResolverOptions, type ResolverStats } from './dns/resolver.ts';
export type { Upstream } from './dns/upstream/udp-channel.ts';
export { type AsnZones, CYMRU } from './probe/asn.ts';
export { createOptOut } from './probe/opt-out.ts';
export { createProber, type Prober, type ProberOptions } from './probe/prober.ts';
export { createAddressGuard, type Verdict } from './web/address-guard.ts';
export type { Downloaded, DownloadRequest } from './web/fetch/download.ts';
export { createFetcher, createNamedFetcher, type Fetcher, type FetcherOptions } from './web/fetch/fetcher.ts';
export type { Fetched, FetchRequest, Redirect } from './web/fetch/web-walk.ts';
export type { Target } from './web/web-request.ts';
