// The only reader of the environment: STRATA_* -> one validated, frozen Config.
import { isIP } from 'node:net';
import {
  AddressRange,
  ConnectionEnvironment,
  type ConnectionLimits,
  connectionLimitsOf,
  DatabaseUrl,
  HostName,
  List,
  PoolSize,
  readEnvironment,
  SettingsError,
  WebAddress,
  WitnessEnvironment,
  type WitnessSettings,
  witnessesOf,
} from '@strata/http';
import { z } from 'zod';
import type { Retention } from './store/retention.ts';
import { RetentionEnvironment, retentionOf } from './store/retention-config.ts';

const Port = z.coerce.number().int().min(0).max(65_535);
const Hours = z.coerce.number().min(0).max(8_760);
const HOUR_MS = 3_600_000;
const Switch = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((value) => ['on', 'true', '1'].includes(value));

/** File names may contain blanks: only commas separate them. */
export const Paths = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item.length > 0),
);

/** `address`, `address:port` or `[v6]:port`. */
const Resolver = z.string().transform((value, context) => {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([0-9.]+|[0-9a-fA-F:]{3,}))(?::(\d{1,5}))?$/.exec(value);
  const address = match?.[1] ?? match?.[2];
  const port = Number(match?.[3] ?? 53);
  if (!address || isIP(address) === 0 || port < 1 || port > 65_535) {
    // A mode of earlier versions: iterative resolution from the root servers.
    const advice =
      value === 'iterative'
        ? "is no longer supported: run a recursive resolver beside the scanner and give its address, as 127.0.0.1:5335 (docs/operations.md, 'A resolver beside the scanner')"
        : 'is not a resolver: give addresses as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53';
    context.addIssue({ code: 'custom', message: `'${value}' ${advice}` });
    return z.NEVER;
  }
  return { address, port };
});

/** Sources of advisories; `folder` is a separate setting. */
const ADVISORY_SOURCES = ['kev', 'epss', 'nvd', 'osv', 'cve'] as const;

/** The roles of a process; see docs/operations.md. */
export const ROLES = ['all', 'api', 'scanner', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

/** Every setting with its default; a test compares `docs/operations.md` with this table. */
export const Environment = z.object({
  STRATA_DATA: z.string().min(1).default('./data'),
  STRATA_DATABASE_URL: DatabaseUrl.optional(),
  STRATA_DATABASE_CONNECTIONS: PoolSize.default(10),
  STRATA_ROLE: z.enum(ROLES).default('all'),
  STRATA_HOST: z.string().min(1).default('127.0.0.1'),
  STRATA_STACK_PORT: Port.default(8787),
  STRATA_METRICS_PORT: Port.default(9464),
  STRATA_LEDGER_ORIGIN: z
    .string()
    .regex(/^[a-z0-9.-]+(?:\/[a-z0-9./-]+)?$/, 'must be a host name with an optional path')
    .default('localhost/strata/stack'),
  ...WitnessEnvironment.shape,
  STRATA_RESOLVERS: List.pipe(z.array(Resolver)).default([]),
  STRATA_TRUSTED_PROXIES: List.pipe(z.array(AddressRange)).default([]),
  ...ConnectionEnvironment.shape,
  STRATA_ALLOWED_HOSTS: List.pipe(z.array(HostName)).default([]),
  STRATA_ALLOW_ADDRESSES: List.pipe(z.array(AddressRange)).default([]),
  STRATA_OPT_OUT_FILE: z.string().min(1).optional(),
  STRATA_SECTORS: z.string().min(1).optional(),
  STRATA_ADDRESS_RANGES: List.default([]),
  STRATA_CONTACT_URL: z.url({ protocol: /^https?$/ }).default('https://strata.invalid/bot'),
  STRATA_SCAN: Switch.default(true),
  STRATA_SCAN_CONCURRENCY: z.coerce.number().int().min(1).max(5_000).default(64),
  STRATA_ON_DEMAND: Switch.default(true),
  STRATA_ON_DEMAND_PER_HOUR: z.coerce.number().int().min(0).default(60),
  STRATA_ON_DEMAND_SUFFIX_PER_DAY: z.coerce.number().int().min(0).default(200),
  STRATA_ON_DEMAND_ADDRESS_PER_DAY: z.coerce.number().int().min(0).default(20),
  STRATA_CONFIRM_AFTER_HOURS: Hours.default(6),
  STRATA_RESCAN_HOURS: Hours.default(24),
  STRATA_FREE_KEYS_PER_DAY: z.coerce.number().int().min(0).default(5),
  STRATA_CHAT_URL: WebAddress.optional(),
  ...RetentionEnvironment.shape,
  STRATA_ADVISORIES: List.pipe(z.array(z.enum([...ADVISORY_SOURCES, 'off']))).default([...ADVISORY_SOURCES]),
  STRATA_ADVISORY_HOURS: z.coerce.number().min(0.001).max(8_760).default(2),
  STRATA_ADVISORY_FOLDER: z.string().min(1).optional(),
  STRATA_NVD_URL: WebAddress.default('https://services.nvd.nist.gov/rest/json/cves/2.0'),
  STRATA_NVD_API_KEY: z.string().min(1).optional(),
  STRATA_KEV_URL: WebAddress.default(
    'https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json',
  ),
  STRATA_EPSS_URL: WebAddress.default('https://epss.empiricalsecurity.com/epss_scores-current.csv.gz'),
  STRATA_OSV_URL: WebAddress.default('https://osv-vulnerabilities.storage.googleapis.com'),
  STRATA_CVE_API_URL: WebAddress.default('https://api.github.com/repos/CVEProject/cvelistV5'),
  STRATA_CVE_RAW_URL: WebAddress.default('https://raw.githubusercontent.com/CVEProject/cvelistV5/main'),
  STRATA_FEEDS: Switch.default(true),
  STRATA_FEEDS_FILE: z.string().min(1).optional(),
  STRATA_FEED_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(16),
  STRATA_FEED_SCAN: Switch.default(false),
  STRATA_FEED_SCAN_PER_DAY: z.coerce.number().int().min(0).max(1_000_000).default(1_000),
  STRATA_FEED_DAYS: z.coerce
    .number()
    .int()
    .min(64, 'must be at least 64: mentions are counted over this many days')
    .max(36_500)
    .default(400),
  STRATA_FINGERPRINTS: Paths.default([]),
  STRATA_DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
  STRATA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export interface Config {
  readonly dataDirectory: string;
  /** `sqlite:<path>` or `postgres://…`; by default `strata.db` in the data directory. */
  readonly databaseUrl: string;
  /** Maximum connections to PostgreSQL. */
  readonly databaseConnections: number;
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  readonly metricsPort: number;
  readonly ledgerOrigin: string;
  /** Witnesses that cosign the ledger's checkpoints. */
  readonly witnesses: WitnessSettings | undefined;
  /** Recursive resolvers; those of the system if empty. */
  readonly resolvers: readonly { readonly address: string; readonly port: number }[];
  readonly trustedProxies: readonly string[];
  /** Limits of connections and streams. */
  readonly bounds: ConnectionLimits;
  /** Accepted values of the Host header in addition to this machine's; `*`: any. */
  readonly allowedHosts: readonly string[];
  readonly allowAddresses: readonly string[];
  readonly optOutFile: string | undefined;
  /** CSV, `domain,sector`. */
  readonly sectorsFile: string | undefined;
  /** Files and folders. */
  readonly addressRanges: readonly string[];
  readonly contactUrl: string;
  readonly isScanning: boolean;
  readonly scanConcurrency: number;
  readonly isOnDemand: boolean;
  readonly onDemandPerHour: number;
  /** New names per UTC day, below one private suffix and below all of them for one client address. */
  readonly onDemandSuffixPerDay: number;
  readonly onDemandAddressPerDay: number;
  readonly confirmAfterMs: number;
  readonly rescanAfterMs: number;
  readonly freeKeysPerDay: number;
  /** URL of the inference service's chat, for links between the pages. */
  readonly chatUrl: string | undefined;
  readonly retention: Retention;
  readonly advisories: AdvisorySettings;
  readonly isPollingFeeds: boolean;
  /** OPML, or one URL a line; imported at the start. */
  readonly feedsFile: string | undefined;
  readonly feedConcurrency: number;
  /** Whether newly observed domains in feeds are scanned. */
  readonly isFeedScanning: boolean;
  readonly feedScansPerDay: number;
  /** Retention of feed items and mentions, in days. */
  readonly feedDays: number;
  /** Files and folders of community sets of fingerprints. */
  readonly fingerprints: readonly string[];
  /** Time between the stop signal and the closing of connections, during which requests are served. */
  readonly drainMs: number;
  readonly logLevel: string;
}

export interface AdvisorySettings {
  /** Nothing is synced if empty. */
  readonly sources: readonly (typeof ADVISORY_SOURCES)[number][];
  readonly everyMs: number;
  /** A folder of the sources' files, used in place of the network. */
  readonly folder: string | undefined;
  readonly nvdUrl: string;
  readonly nvdApiKey: string | undefined;
  readonly kevUrl: string;
  readonly epssUrl: string;
  readonly osvUrl: string;
  readonly cveApiUrl: string;
  readonly cveRawUrl: string;
}

/** Reads the settings; throws SettingsError with one line per problem. An empty variable counts as unset. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const value = readEnvironment(Environment, env);
  const rescanAfterMs = value.STRATA_RESCAN_HOURS * HOUR_MS;
  const databaseUrl = value.STRATA_DATABASE_URL ?? `sqlite:${value.STRATA_DATA}/strata.db`;
  if (value.STRATA_ROLE !== 'all' && databaseUrl.startsWith('sqlite:')) {
    throw new SettingsError(
      `STRATA_ROLE: the role ${value.STRATA_ROLE} needs PostgreSQL: set STRATA_DATABASE_URL=postgres://…, or use the role all`,
    );
  }
  if (value.STRATA_ROLE === 'scanner' && !value.STRATA_SCAN) {
    throw new SettingsError('STRATA_ROLE: a scanner has nothing to do while STRATA_SCAN is off');
  }
  return Object.freeze({
    dataDirectory: value.STRATA_DATA,
    databaseUrl,
    databaseConnections: value.STRATA_DATABASE_CONNECTIONS,
    role: value.STRATA_ROLE,
    host: value.STRATA_HOST,
    port: value.STRATA_STACK_PORT,
    metricsPort: value.STRATA_METRICS_PORT,
    ledgerOrigin: value.STRATA_LEDGER_ORIGIN,
    witnesses: witnessesOf(value),
    resolvers: value.STRATA_RESOLVERS,
    trustedProxies: value.STRATA_TRUSTED_PROXIES,
    bounds: connectionLimitsOf(value),
    allowedHosts: value.STRATA_ALLOWED_HOSTS,
    allowAddresses: value.STRATA_ALLOW_ADDRESSES,
    optOutFile: value.STRATA_OPT_OUT_FILE,
    sectorsFile: value.STRATA_SECTORS,
    addressRanges: value.STRATA_ADDRESS_RANGES,
    contactUrl: value.STRATA_CONTACT_URL,
    isScanning: value.STRATA_SCAN,
    scanConcurrency: value.STRATA_SCAN_CONCURRENCY,
    isOnDemand: value.STRATA_ON_DEMAND,
    onDemandPerHour: value.STRATA_ON_DEMAND_PER_HOUR,
    onDemandSuffixPerDay: value.STRATA_ON_DEMAND_SUFFIX_PER_DAY,
    onDemandAddressPerDay: value.STRATA_ON_DEMAND_ADDRESS_PER_DAY,
    confirmAfterMs: value.STRATA_CONFIRM_AFTER_HOURS * HOUR_MS,
    rescanAfterMs,
    freeKeysPerDay: value.STRATA_FREE_KEYS_PER_DAY,
    chatUrl: value.STRATA_CHAT_URL,
    retention: retentionOf(value, { rescanAfterMs, feedDays: value.STRATA_FEEDS ? value.STRATA_FEED_DAYS : undefined }),
    advisories: advisorySettings(value),
    isPollingFeeds: value.STRATA_FEEDS,
    feedsFile: value.STRATA_FEEDS_FILE,
    feedConcurrency: value.STRATA_FEED_CONCURRENCY,
    isFeedScanning: value.STRATA_FEED_SCAN,
    feedScansPerDay: value.STRATA_FEED_SCAN_PER_DAY,
    feedDays: value.STRATA_FEED_DAYS,
    fingerprints: value.STRATA_FINGERPRINTS,
    drainMs: value.STRATA_DRAIN_SECONDS * 1_000,
    logLevel: value.STRATA_LOG_LEVEL,
  });
}

function advisorySettings(value: z.infer<typeof Environment>): AdvisorySettings {
  const named = value.STRATA_ADVISORIES;
  return Object.freeze({
    sources: named.includes('off') ? [] : ADVISORY_SOURCES.filter((source) => named.includes(source)),
    everyMs: value.STRATA_ADVISORY_HOURS * 3_600_000,
    folder: value.STRATA_ADVISORY_FOLDER,
    nvdUrl: value.STRATA_NVD_URL,
    nvdApiKey: value.STRATA_NVD_API_KEY,
    kevUrl: value.STRATA_KEV_URL,
    epssUrl: value.STRATA_EPSS_URL,
    osvUrl: value.STRATA_OSV_URL,
    cveApiUrl: value.STRATA_CVE_API_URL,
    cveRawUrl: value.STRATA_CVE_RAW_URL,
  });
}
