// How many connections and streams a service takes: its settings, and the report when a bound is met.
import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Settings of every service that clients connect to. */
export const BoundEnvironment = z.object({
  STRATA_CONNECTIONS: z.coerce.number().int().min(16).max(1_000_000).default(50_000),
  STRATA_CONNECTIONS_PER_ADDRESS: z.coerce.number().int().min(1).max(1_000_000).optional(),
  STRATA_STREAMS_PER_KEY: z.coerce.number().int().min(1).max(1_000_000).default(200),
  STRATA_FREE_STREAMS_PER_KEY: z.coerce.number().int().min(1).max(1_000_000).default(10),
  STRATA_FREE_STREAMS_PER_ADDRESS: z.coerce.number().int().min(1).max(1_000_000).default(20),
});

export interface Bounds {
  /** Connections at once; fewer where the process may not open that many files. */
  readonly connections: number;
  /** Connections of one IPv4 address or IPv6 /64 (of a /56 and a /48 more); three quarters of all connections by default. */
  readonly connectionsPerAddress?: number | undefined;
  /** Streams of one key that is neither free nor unlimited. */
  readonly streamsPerKey: number;
  readonly freeStreamsPerKey: number;
  /** Streams that one address has by all of its free keys; its networks have more. */
  readonly freeStreamsPerAddress: number;
}

export const boundsOf = (settings: z.output<typeof BoundEnvironment>): Bounds => ({
  connections: settings.STRATA_CONNECTIONS,
  connectionsPerAddress: settings.STRATA_CONNECTIONS_PER_ADDRESS,
  streamsPerKey: settings.STRATA_STREAMS_PER_KEY,
  freeStreamsPerKey: settings.STRATA_FREE_STREAMS_PER_KEY,
  freeStreamsPerAddress: settings.STRATA_FREE_STREAMS_PER_ADDRESS,
});

export const DEFAULT_BOUNDS = boundsOf(BoundEnvironment.parse({}));

/** Where the system does not say: the customary limit. */
const CUSTOMARY_FILES = 1_024;
/** The rest is for the database, logs, models, scans and probes. */
const CLIENTS_SHARE = 3 / 4;

/** Connections of clients that this process has files for, those of all its servers together. */
export function connectionsOfProcess(): number {
  return Math.floor(maxOpenFiles() * CLIENTS_SHARE);
}

/** The soft limit of the process; Node raises it to the hard one at its start. */
function maxOpenFiles(): number {
  if (process.platform === 'win32') return Number.POSITIVE_INFINITY;
  let limits = '';
  try {
    limits = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return CUSTOMARY_FILES;
  }
  const soft = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? CUSTOMARY_FILES);
}

export type BoundName =
  | 'connections'
  | 'connections-per-address'
  | 'streams-per-tier'
  | 'streams-per-key'
  | 'streams-per-address';

/** Called each time that a bound is met; `facts` are for the log. */
export type ReportBound = (bound: BoundName, facts: Readonly<Record<string, unknown>>) => void;
