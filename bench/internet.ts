// The simulated internet beside what is measured.
import type { Target } from '@strata/scan';
import type { World } from '@strata/stack';
import type { InternetOptions, ListedFeed, Truth } from '@strata/testnet';
import type { ShortDays } from './load/days.ts';
import { startChild } from './measure.ts';

export interface BenchInternetOptions
  extends Pick<InternetOptions, 'domains' | 'feeds' | 'migrationShare' | 'hasFaults'> {
  readonly days?: ShortDays;
  /** A fifth of the providers are of the rulebook's long tail, and the truth about every company is known. */
  readonly hasTruths?: boolean;
}

/** What a node needs to see it. */
export interface BenchInternet {
  readonly domains: readonly string[];
  readonly feeds: readonly ListedFeed[];
  readonly resolver: { readonly address: string; readonly port: number };
  readonly caPem: string;
  /** The listeners of ports 80 and 443, by the last octet of an address. */
  readonly ports: Readonly<Record<number, readonly number[]>>;
  /** Settings that name the publishers of advisories; none where its days are not short. */
  readonly publishers: Readonly<Record<string, string>>;
  readonly truths: readonly Truth[];
}

export const startInternet = (options: BenchInternetOptions) =>
  startChild<BenchInternet>(new URL('./internet-process.ts', import.meta.url), options);

/** What makes a node see it. */
export function near({ caPem, ports }: BenchInternet) {
  // IPv6 addresses have the usual listeners.
  const octetOf = (address: string) => (address.includes(':') ? 1 : Number(address.split('.')[3]));
  return {
    dial: ({ address, port }: Target) => ({ address: '127.0.0.1', port: ports[port]?.[octetOf(address)] ?? 1 }),
    trustedCa: [caPem],
    dnsTryTimeoutMs: 500,
    requestTimeoutMs: 1_500,
  } satisfies World;
}
