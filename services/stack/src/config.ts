// The only reader of the environment, but for the AWS_* variables of a bucket: STRATA_* -> one validated, frozen Config.
import { isIP } from 'node:net';
import {
  connectionLimitsOf,
  DatabaseUrl,
  itemsOf,
  LedgerOrigin,
  List,
  loweredLimit,
  MetricsPorts,
  PoolSize,
  Port,
  readEnvironment,
  ServerEnvironment,
  ServiceEnvironment,
  SettingsError,
  WebAddress,
  WitnessEnvironment,
} from '@strata/http';
import { type NoteVerifier, parseVerifierKey, refusedKey } from '@strata/receipts';
import { z } from 'zod';
import { AnalyticsUrl } from './analytics/analytics-url.ts';
import { DumpUrl } from './exports/dump/dump-url.ts';
import { RetentionDays, retentionOf } from './store/retention-config.ts';
import { SmtpUrl } from './watchlists/smtp.ts';

const Hours = z.coerce.number().min(0).max(8_760);
const HOUR_MS = 3_600_000;
/** A scanner claims or renews over one connection while it records over the other. */
const SCANNER_CONNECTIONS = 2;
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

/** `address`, `address:port` or `[v6]:port`; `tcp://` before it for kept connections. */
const Resolver = z.string().transform((value, context) => {
  const match = /^(tcp:\/\/)?(?:\[([0-9a-fA-F:]+)\]|([0-9.]+|[0-9a-fA-F:]{3,}))(?::(\d{1,5}))?$/.exec(value);
  const address = match?.[2] ?? match?.[3];
  const port = Number(match?.[4] ?? 53);
  if (!address || isIP(address) === 0 || port < 1 || port > 65_535) {
    // A mode of earlier versions: iterative resolution from the root servers.
    const advice =
      value === 'iterative'
        ? "is no longer supported: run a recursive resolver beside the scanner and give its address, as 127.0.0.1:5335 (docs/operations.md, 'A resolver beside the scanner')"
        : 'is not a resolver: give addresses as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:53';
    context.addIssue({ code: 'custom', message: `'${value}' ${advice}` });
    return z.NEVER;
  }
  return { address, port, ...(match?.[1] ? { transport: 'tcp' as const } : {}) };
});

/** C2SP verifier keys. */
const ReleaseKeys = List.transform((keys, context): readonly NoteVerifier[] =>
  keys.flatMap((key) => {
    const verifier = parseVerifierKey(key);
    if (verifier) return [verifier];
    context.addIssue({ code: 'custom', message: refusedKey(key, 'a verifier key, as name+id+key') });
    return [];
  }),
);

/** Sources of advisories; `folder` is a separate setting. */
const ADVISORY_SOURCES = ['kev', 'epss', 'nvd', 'osv', 'cve'] as const;

/** The roles of a process; see docs/operations.md. */
export const ROLES = ['all', 'api', 'scanner', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

/** Every setting of the service. `docs/settings.md` is generated from it; `absent` describes the value of an unset variable. */
export const Environment = z.object({
  ...ServiceEnvironment.shape,
  ...ServerEnvironment.shape,
  ...WitnessEnvironment.shape,
  STRATA_DATABASE_URL: DatabaseUrl.optional().meta({
    description:
      '`sqlite:` and a file, or `postgres://user:password@host/database`, with `/`, `#`, `?` of the password percent-encoded',
    absent: '`sqlite:<STRATA_DATA>/strata.db`',
  }),
  STRATA_DATABASE_CONNECTIONS: PoolSize,
  STRATA_ROLE: z
    .enum(ROLES)
    .default('all')
    .describe('`all`, `api`, `scanner` or `scheduler` ([roles](operations.md#roles))'),
  STRATA_STACK_PORT: Port.default(8787).describe('port of the API'),
  STRATA_METRICS_PORT: MetricsPorts,
  STRATA_LEDGER_ORIGIN: LedgerOrigin.default('localhost/strata/stack').describe(
    'permanent name of the ledger, as `your.host/stack`; set it before the first start',
  ),
  STRATA_RESOLVERS: List.pipe(z.array(Resolver)).default([]).meta({
    description: 'recursive resolvers, `192.0.2.1,tcp://192.0.2.2:5353,[2001:db8::1]:53`; all should validate DNSSEC',
    absent: "the system's",
  }),
  STRATA_OPT_OUT_FILE: z.string().min(1).optional().describe('domains never to scan, one a line, subdomains included'),
  STRATA_SECTORS: z
    .string()
    .min(1)
    .optional()
    .describe('CSV `domain,sector`, preferred to other sources ([sector](detection.md#sector))'),
  STRATA_ADDRESS_RANGES: List.default([]).describe(
    'files or folders of [published address ranges](detection.md#address-ranges)',
  ),
  STRATA_FINGERPRINTS: Paths.default([]).describe(
    'files and folders of [community sets](detection.md#community-sets), comma-separated',
  ),
  STRATA_CATALOG: itemsOf({ url: WebAddress.optional(), signers: ReleaseKeys.optional() }).meta({
    description: '[catalog release](catalog.md#releases) to fetch and apply, as `url=https://…,signers=KEY`',
    absent: 'none',
  }),
  STRATA_CONTACT_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://strata.invalid/bot')
    .describe('in the User-Agent: who scans, and how to opt out'),
  STRATA_CHAT_URL: WebAddress.optional().meta({
    description: 'link of the explorer to the chat',
    absent: "with `npm start` the gateway's, if `STRATA_HOST` can be opened; else none",
  }),
  STRATA_SCAN: Switch.default(true).describe('whether the schedule runs'),
  STRATA_SCAN_OPTIONS: itemsOf({
    concurrency: z.coerce.number().int().min(1).max(5_000).default(64).describe('domains scanned concurrently'),
    'rescan-hours': z.coerce
      .number()
      .positive()
      .max(8_760)
      .default(24)
      .describe('usual hours between scans; a quarter to twice of it ([schedule](probing.md#schedule))'),
    'confirm-hours': Hours.default(6).describe('minimum hours between the observations that confirm a change'),
    'on-demand': Switch.default(true).describe('whether a request for an unknown domain scans it'),
    'on-demand-per-hour': z.coerce.number().int().min(0).default(60).describe('such scans per key and hour'),
    mentioned: Switch.default(false).describe('whether unknown domains that feeds mention are scanned'),
    'mentioned-per-day': z.coerce
      .number()
      .int()
      .min(0)
      .max(1_000_000)
      .default(1_000)
      .describe('such domains per UTC day'),
  }).describe('options of scans, as `concurrency=128,on-demand=off`'),
  STRATA_FREE_KEYS_PER_DAY: z.coerce
    .number()
    .int()
    .min(0)
    .default(5)
    .describe('free keys per address and UTC day; its /56 4 times, /48 16 times, all clients 1,000 times as many'),
  STRATA_DUMP_URL: DumpUrl.optional().describe(
    '[nightly dumps](dumps.md): `file:///folder` or `s3://bucket/prefix?endpoint=https://…&region=…`',
  ),
  STRATA_RETENTION_DAYS: RetentionDays,
  STRATA_ADVISORIES: List.pipe(z.array(z.enum([...ADVISORY_SOURCES, 'off'])))
    .default([...ADVISORY_SOURCES])
    .describe('[advisory sources](enrichment.md#sources); `off` for none'),
  STRATA_ADVISORY_MIRRORS: itemsOf({
    nvd: WebAddress.default('https://services.nvd.nist.gov/rest/json/cves/2.0'),
    kev: WebAddress.default('https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json'),
    epss: WebAddress.default('https://epss.empiricalsecurity.com/epss_scores-current.csv.gz'),
    osv: WebAddress.default('https://osv-vulnerabilities.storage.googleapis.com'),
    cve: WebAddress.default('https://api.github.com/repos/CVEProject/cvelistV5'),
    'cve-raw': WebAddress.default('https://raw.githubusercontent.com/CVEProject/cvelistV5/main'),
    folder: z.string().optional(),
  }).meta({
    description:
      "addresses in place of those of the sources, as `nvd=https://…`, and of `cve-raw`, the raw files; or `folder=…` with the publishers' files, instead of the network",
    absent: "the publishers'",
  }),
  STRATA_NVD_API_KEY: z.string().min(1).optional().describe("raises NVD's rate limit tenfold"),
  STRATA_SMTP_URL: SmtpUrl.optional().describe(
    'mail server of [watchlists](watchlists.md#e-mail), `smtp(s)://user:password@host:port?from=…&base=…`',
  ),
  STRATA_FEEDS: itemsOf(
    {
      poll: Switch.default(true).describe('whether [feeds](feeds.md) are polled'),
      file: z.string().min(1).optional().describe('subscriptions to import at each start: OPML, or one address a line'),
    },
    { first: 'poll' },
  ).describe('`on` or `off`, and options of feeds, as `file=/etc/strata/feeds.opml`'),
  STRATA_ANALYTICS_URL: AnalyticsUrl.optional().meta({
    description:
      '[ClickHouse](scale.md) for sets and history: `https://user:password@host:8443/database`, of a cluster with `?cluster=name`; or `chdb:folder`, in this process',
    absent: 'memory',
  }),
});

export type Config = ReturnType<typeof readConfig>;

/** Reads the settings; throws SettingsError with one line per problem. An empty variable counts as unset. */
export function readConfig(env: Readonly<Record<string, string | undefined>>) {
  const value = readEnvironment(Environment, env);
  const scans = value.STRATA_SCAN_OPTIONS;
  const rescanAfterMs = scans['rescan-hours'] * HOUR_MS;
  const databaseUrl = value.STRATA_DATABASE_URL ?? `sqlite:${value.STRATA_DATA}/strata.db`;
  if (value.STRATA_ROLE !== 'all' && databaseUrl.startsWith('sqlite:')) {
    throw new SettingsError(
      `STRATA_ROLE: the role ${value.STRATA_ROLE} needs PostgreSQL: set STRATA_DATABASE_URL=postgres://…, or use the role all`,
    );
  }
  if (value.STRATA_ROLE === 'scanner' && !value.STRATA_SCAN) {
    throw new SettingsError('STRATA_ROLE: a scanner has nothing to do while STRATA_SCAN is off');
  }
  if (value.STRATA_ROLE !== 'all' && value.STRATA_ANALYTICS_URL?.startsWith('chdb:')) {
    throw new SettingsError(
      `STRATA_ANALYTICS_URL: chdb: is for one process: use a server (https://…) with the role ${value.STRATA_ROLE}`,
    );
  }
  return Object.freeze({
    dataDirectory: value.STRATA_DATA,
    databaseUrl,
    databaseConnections:
      value.STRATA_ROLE === 'scanner'
        ? Math.min(value.STRATA_DATABASE_CONNECTIONS, SCANNER_CONNECTIONS)
        : value.STRATA_DATABASE_CONNECTIONS,
    role: value.STRATA_ROLE,
    host: value.STRATA_HOST,
    port: value.STRATA_STACK_PORT,
    metricsPort: value.STRATA_METRICS_PORT.stack,
    ledgerOrigin: value.STRATA_LEDGER_ORIGIN,
    witnesses: value.STRATA_WITNESSES,
    /** Those of the system if empty. */
    resolvers: value.STRATA_RESOLVERS,
    trustedProxies: value.STRATA_TRUSTED_PROXIES,
    limits: connectionLimitsOf(value, env),
    allowedHosts: value.STRATA_ALLOWED_HOSTS,
    allowAddresses: value.STRATA_ALLOW_ADDRESSES,
    optOutFile: value.STRATA_OPT_OUT_FILE,
    sectorsFile: value.STRATA_SECTORS,
    addressRanges: value.STRATA_ADDRESS_RANGES,
    /** Without `url` releases are not fetched. A stored release is used only if one of `verifiers` signed it. */
    release: releaseSettings(value),
    contactUrl: value.STRATA_CONTACT_URL,
    isScanning: value.STRATA_SCAN,
    scanConcurrency: scans.concurrency,
    isOnDemand: scans['on-demand'],
    onDemandPerHour: scans['on-demand-per-hour'],
    /** New names per UTC day, below one private suffix (`github.io`), and below all of them for one client address. */
    onDemandSuffixPerDay: loweredLimit(200, env.STRATA_ON_DEMAND_SUFFIX_PER_DAY, 0),
    onDemandAddressPerDay: loweredLimit(20, env.STRATA_ON_DEMAND_ADDRESS_PER_DAY, 0),
    confirmAfterMs: scans['confirm-hours'] * HOUR_MS,
    rescanAfterMs,
    freeKeysPerDay: value.STRATA_FREE_KEYS_PER_DAY,
    chatUrl: value.STRATA_CHAT_URL,
    retention: retentionOf(value.STRATA_RETENTION_DAYS, { rescanAfterMs, isPollingFeeds: value.STRATA_FEEDS.poll }),
    dumpAddress: value.STRATA_DUMP_URL,
    advisories: advisorySettings(value),
    /** Without it channels have no e-mail. */
    smtp: value.STRATA_SMTP_URL,
    isPollingFeeds: value.STRATA_FEEDS.poll,
    feedsFile: value.STRATA_FEEDS.file,
    /** Sets and history are in memory without it. */
    analyticsUrl: value.STRATA_ANALYTICS_URL,
    /** 0: domains that feeds mention are not scanned. */
    feedScansPerDay: scans.mentioned ? scans['mentioned-per-day'] : 0,
    feedDays: value.STRATA_RETENTION_DAYS.feeds,
    fingerprints: value.STRATA_FINGERPRINTS,
    /** Time between the stop signal and the closing of connections, during which requests are served. */
    drainMs: (value.STRATA_DRAIN_SECONDS ?? 0) * 1_000,
    logLevel: value.STRATA_LOG_LEVEL,
  });
}

function releaseSettings({ STRATA_CATALOG: { url, signers: verifiers } }: z.infer<typeof Environment>) {
  if (verifiers) return Object.freeze({ url, verifiers });
  if (url === undefined) return undefined;
  throw new SettingsError(
    'STRATA_CATALOG: url: releases are not fetched without signers, the verifier keys that sign them',
  );
}

function advisorySettings(value: z.infer<typeof Environment>) {
  const named = value.STRATA_ADVISORIES;
  const { folder, ...urls } = value.STRATA_ADVISORY_MIRRORS;
  return Object.freeze({
    /** Nothing is synced if empty. */
    sources: named.includes('off') ? [] : ADVISORY_SOURCES.filter((source) => named.includes(source)),
    everyMs: 2 * HOUR_MS,
    folder,
    urls,
    nvdApiKey: value.STRATA_NVD_API_KEY,
  });
}
