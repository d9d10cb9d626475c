// What @strata/scan offers: the prober, the fetcher of documents, their resolver, and the rules of whom they may visit.
export { createAddressGuard, type Verdict } from './address-guard.ts';
export { type AsnZones, CYMRU } from './asn.ts';
export type { Downloaded, DownloadRequest } from './download.ts';
export { createFetcher, type Fetcher, type FetcherOptions } from './fetcher.ts';
export { createNamedFetcher } from './named-fetcher.ts';
export { createOptOut } from './opt-out.ts';
export { createProber, type Prober, type ProberOptions } from './prober.ts';
export type { RecordOf, RecordType } from './records.ts';
export { Resolver, type ResolverOptions, type ResolverStats } from './resolver.ts';
export type { Upstream } from './udp-channel.ts';
export type { Target } from './web-request.ts';
export type { Fetched, FetchRequest, Redirect } from './web-walk.ts';
