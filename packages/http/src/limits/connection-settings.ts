// Limits of connections and streams: settings, and the report when a limit is reached.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { itemsOf } from '../settings/items.ts';
import { loweredLimit } from '../settings/lowered-limit.ts';

const Limit = z.coerce.number().int().min(1).max(1_000_000);

/** Settings of every service that accepts clients. */
export const ConnectionEnvironment = z.object({
  STRATA_LIMITS: itemsOf({
    connections: z.coerce
      .number()
      .int()
      .min(16)
      .max(1_000_000)
      .default(50_000)
      .describe('concurrent connections ([limits](operations.md#connections-and-streams))'),
    'connections-per-address': Limit.optional().meta({
      description: 'connections of one IPv4 address or IPv6 /64; /56 4 times, /48 16 times as many',
      absent: 'three quarters of all',
    }),
    'streams-per-key': Limit.default(200).describe(
      'event streams or answers of a `standard` key at once; of a free key a twentieth, at most 10, of all free keys at an address a tenth, at most 20; `unlimited` has no limit',
    ),
  }).describe('limits of clients, as `connections=10000,streams-per-key=50`'),
});

export type ConnectionLimits = Readonly<ReturnType<typeof connectionLimitsOf>>;

/** `env`: with former settings. */
export const connectionLimitsOf = (
  { STRATA_LIMITS: limits }: z.output<typeof ConnectionEnvironment>,
  env: Readonly<Record<string, string | undefined>> = {},
) => ({
  /** Fewer if the process may not open that many files. */
  connections: limits.connections,
  connectionsPerAddress: limits['connections-per-address'],
  /** Of a key that is neither free nor unlimited. */
  streamsPerKey: limits['streams-per-key'],
  freeStreamsPerKey: loweredLimit(
    Math.min(Math.ceil(limits['streams-per-key'] / 20), 10),
    env.STRATA_FREE_STREAMS_PER_KEY,
  ),
  /** Of all free keys; more for the networks of the address. */
  freeStreamsPerAddress: loweredLimit(
    Math.min(Math.ceil(limits['streams-per-key'] / 10), 20),
    env.STRATA_FREE_STREAMS_PER_ADDRESS,
  ),
});

export const DEFAULT_LIMITS = connectionLimitsOf(ConnectionEnvironment.parse({}));

/** The usual limit, if the system does not report one. */
const DEFAULT_FILES = 1_024;
/** The remainder is for the database, logs, models, scans and probes. */
const CLIENTS_SHARE = 3 / 4;

/** Client connections for which this process has file descriptors, all its servers together. */
export function connectionsOfProcess(): number {
  return Math.floor(maxOpenFiles() * CLIENTS_SHARE);
}

/** The soft limit of the process; Node raises it to the hard limit at startup. */
function maxOpenFiles(): number {
  if (process.platform === 'win32') return Number.POSITIVE_INFINITY;
  let limits = '';
  try {
    limits = readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return DEFAULT_FILES;
  }
  const soft = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1];
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft ?? DEFAULT_FILES);
}

export type LimitName =
  | 'connections'
  | 'connections-per-address'
  | 'streams-per-tier'
  | 'streams-per-key'
  | 'streams-per-address';

/** Called each time a limit is reached; `facts` are for the log. */
export type ReportLimit = (limit: LimitName, facts: Readonly<Record<string, unknown>>) => void;
