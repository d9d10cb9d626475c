// The types of the service's components, for routes and roles.

import type { Analytics, IndexPosition } from '@strata/analytics';
import type { Rulebook } from '@strata/detect';
import type { Fetcher, Prober, Target } from '@strata/scan';
import type { Catalog } from './catalog/catalog.ts';
import type { Config } from './config.ts';
import type { Exposures } from './enrichment/exposure/exposures.ts';
import type { Jobs } from './exports/jobs.ts';
import type { LiveMentions } from './feeds/live-mentions.ts';
import type { KnownDomains } from './index/known-domains.ts';
import type { KnownNames } from './index/known-names.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { OnDemand } from './scan/on-demand.ts';
import type { Scanner } from './scan/scanner.ts';
import type { Store } from './store/index.ts';
import type { StreamHub } from './stream/stream-hub.ts';

/** Replacements for external systems, for tests and the demo. */
export interface World {
  readonly now?: () => Date;
  /** Monotonic clock for the age of cached answers, in milliseconds; `performance.now` by default. */
  readonly monotonicNow?: () => number;
  /** Maps a checked address to the address that is dialled. */
  readonly dial?: (target: Target) => Target;
  /** Root certificates in place of the built-in ones, PEM. */
  readonly trustedCa?: readonly string[];
  /** Shorter time-outs for local servers; the internet needs the defaults. */
  readonly dnsTryTimeoutMs?: number;
  readonly requestTimeoutMs?: number;
  readonly onDemandWaitMs?: number;
  /** Replaces the fetcher for the web; closed with the service. */
  readonly fetcher?: Fetcher;
  /** The example domain on the explorer's first page; evaluated for each request, because the best example can change. */
  readonly exampleDomain?: () => string;
  /** The domains are simulated, which the pages state. */
  readonly isSimulated?: boolean;
  /** Interval between requests to a simulated NVD. */
  readonly nvdGapMs?: number;
  /** Provider entries that replace the bundled ones. */
  readonly catalogEntries?: readonly unknown[];
  /** Ends a start that imports the ledger of an earlier version. */
  readonly signal?: AbortSignal;
}

/** Dependencies of the routes. */
export interface StackApp extends Omit<Scanning, typeof Symbol.asyncDispose> {
  readonly config: Config;
  readonly ledger: Ledger;
  readonly onDemand: OnDemand;
  readonly openApi: OpenApi;
  /** Answers questions about sets of domains and their history. */
  readonly analytics: Analytics;
  readonly known: KnownDomains;
  /** How far this process has applied the logs of the store. */
  readonly log: { readonly position: IndexPosition };
  readonly names: KnownNames;
  readonly exposures: Exposures;
  readonly sourceNames: readonly string[];
  readonly hub: StreamHub;
  readonly jobs: Jobs;
  readonly mentions: LiveMentions;
  /** The clock of receipts and quotas. */
  readonly now: () => Date;
  /** The clock of the history; in the demo it differs from `now`. */
  readonly clock: () => Date;
}

/** What the rows of a table are read from; the scheduler has it too. */
export type TableApp = Pick<StackApp, 'analytics' | 'known' | 'names' | 'rulebook' | 'store' | 'clock'>;

export type OpenApi = Readonly<Record<string, unknown>> & { readonly openapi: string };

/** Dependencies of scanning; `strata stack scan` uses it without a server. */
export interface Scanning extends AsyncDisposable {
  readonly store: Store;
  readonly prober: Prober;
  /** What the rulebook was compiled from. */
  readonly catalog: Catalog;
  readonly rulebook: Rulebook;
  readonly scanner: Scanner;
  readonly isOptedOut: (domain: string) => boolean;
  readonly isDnsWorking: () => Promise<boolean>;
}

/** A running process of any role. */
export interface RunningRole extends AsyncDisposable {
  readonly store: Store;
  readonly catalog: Catalog;
  /** The API port, if the role has one. */
  readonly port?: number;
  readonly metricsPort: number;
  /** Undefined if the role does not scan. */
  readonly isDnsWorking?: () => Promise<boolean>;
}
