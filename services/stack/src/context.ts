// What the service is made of, as types: what every route and role may use.

import type { DomainIndex } from '@strata/analytics';
import type { Rulebook } from '@strata/detect';
import type { Fetcher, Prober, Target } from '@strata/scan';
import type { Store } from '@strata/store';
import type { Config } from './config.ts';
import type { Exposures } from './enrichment/exposure/exposures.ts';
import type { LiveMentions } from './feeds/live-mentions.ts';
import type { KnownNames } from './index/known-names.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { UpdateLoop } from './roles/update-loop.ts';
import type { OnDemand } from './scan/on-demand.ts';
import type { Scanner } from './scan/scanner.ts';
import type { StreamHub } from './stream/stream-hub.ts';

/** What a test or the demo puts in place of the world. */
export interface World {
  readonly now?: () => Date;
  /** Milliseconds by which the age of kept answers is measured; `performance.now` by default. */
  readonly monotonicNow?: () => number;
  /** Where a checked address is really dialled. */
  readonly dial?: (target: Target) => Target;
  readonly trustedCa?: readonly string[];
  /** Shorter waits where everything is near; the real internet needs the defaults. */
  readonly dnsTryTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly onDemandWaitMs?: number;
  /** In place of the one that asks the web; closed with the service. */
  readonly fetcher?: Fetcher;
  /** A domain of that world, for the explorer's first page; asked each time, since another may have more to show later. */
  readonly exampleDomain?: () => string;
  /** The domains are invented, and the pages say so. */
  readonly isSimulated?: boolean;
  /** Between two requests to NVD, where its publisher is simulated. */
  readonly nvdGapMs?: number;
  /** Provider entries in place of the bundled ones. */
  readonly catalogEntries?: readonly unknown[];
}

/** What the routes know. */
export interface StackApp extends Omit<Scanning, typeof Symbol.asyncDispose> {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly onDemand: OnDemand;
  readonly openApi: OpenApi;
  readonly index: DomainIndex;
  readonly names: KnownNames;
  readonly exposures: Exposures;
  readonly sourceNames: readonly string[];
  readonly hub: StreamHub;
  /** Takes in what was recorded; where this process is the scheduler, judges it and tells it. Runs by itself after each scan. */
  readonly updateLoop: UpdateLoop;
  readonly mentions: LiveMentions;
  /** Of receipts and quotas. */
  readonly now: () => Date;
  /** That history goes by: in the demo another one than `now`. */
  readonly clock: () => Date;
}

export type OpenApi = Readonly<Record<string, unknown>> & { readonly openapi: string };

/** What scanning needs; `strata stack scan` uses it without a server. */
export interface Scanning extends AsyncDisposable {
  readonly store: Store;
  readonly prober: Prober;
  readonly rulebook: Rulebook;
  readonly scanner: Scanner;
  readonly isOptedOut: (domain: string) => boolean;
  readonly isDnsWorking: () => Promise<boolean>;
}

/** What every role has. */
export interface RunningRole extends AsyncDisposable {
  readonly store: Store;
  /** Of the API, where there is one. */
  readonly port: number | undefined;
  readonly metricsPort: number;
  /** Where it scans. */
  readonly isDnsWorking: (() => Promise<boolean>) | undefined;
}
