// The simulated internet beside what is measured.
import type { Target } from '@strata/scan';
import type { World } from '@strata/stack';
import type { InternetOptions, ListedFeed } from '@strata/testnet';
import type { ShortDays } from './load/days.ts';
import { startChild } from './measure.ts';

export interface BenchInternetOptions
  extends Pick<InternetOptions, 'domains' | 'feeds' | 'migrationShare' | 'hasFaults'> {
  readonly days?: ShortDays;
}

/** What a node needs to see it. */
export interface BenchInternet {
  readonly domains: readonly string[];
  readonly feeds: readonly ListedFeed[];
  readonly resolver: { readonly address: string; readonly port: number };
  readonly caPem: string;
  readonly plainPort: number;
  readonly securePort: number;
  /** Settings that name the publishers of advisories; none where its days are not short. */
  readonly publishers: Readonly<Record<string, string>>;
}

export const startInternet = (options: BenchInternetOptions) =>
  startChild<BenchInternet>(new URL('./internet-process.ts', import.meta.url), options);

/** What makes a node see it. */
export function near({ caPem, plainPort, securePort }: BenchInternet) {
  return {
    // What listens there for connections that are refused or cut is not dialled: nothing listens on port 1.
    dial: ({ address, port }: Target) => ({
      address: '127.0.0.1',
      port: /\.25[12]$/.test(address) ? 1 : port === 443 ? securePort : plainPort,
    }),
    trustedCa: [caPem],
    dnsTryTimeoutMs: 500,
    requestTimeoutMs: 1_500,
  } satisfies World;
}
