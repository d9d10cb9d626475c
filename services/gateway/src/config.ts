// The only reader of the environment: STRATA_* variables to one validated Config.
import path from 'node:path';
import { ModelEnvironment, type ModelSettings, readModelSettings } from '@strata/engine';
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
import { type NetworkConfig, NetworkEnvironment, networkConfigOf } from './network/network-config.ts';

const Port = z.coerce.number().int().min(0).max(65_535);

/** All settings: variable, validation and default. `docs/inference.md` is checked against this table. */
export const Environment = z.object({
  STRATA_DATA: z.string().min(1).default('./data'),
  STRATA_INFERENCE_DATABASE_URL: DatabaseUrl.optional(),
  STRATA_INFERENCE_DATABASE_CONNECTIONS: PoolSize.default(10),
  STRATA_HOST: z.string().min(1).default('127.0.0.1'),
  STRATA_INFERENCE_PORT: Port.default(8788),
  STRATA_INFERENCE_METRICS_PORT: Port.optional(),
  ...ModelEnvironment.shape,
  STRATA_UPSTREAM: z.url({ protocol: /^https?$/ }).optional(),
  STRATA_UPSTREAM_KEY: z.string().min(1).optional(),
  STRATA_UPSTREAM_MODELS: z.string().min(1).optional(),
  STRATA_UPSTREAM_PLACES: z.coerce.number().int().min(1).max(10_000).default(8),
  STRATA_UPSTREAM_CONTEXT: z.coerce.number().int().min(64).max(10_000_000).optional(),
  ...NetworkEnvironment.shape,
  STRATA_QUEUE: z.coerce.number().int().min(0).max(100_000).default(64),
  STRATA_INFERENCE_FREE_KEYS_PER_DAY: z.coerce.number().int().min(0).max(1_000).default(0),
  STRATA_TRUSTED_PROXIES: List.pipe(z.array(AddressRange)).default([]),
  ...ConnectionEnvironment.shape,
  STRATA_ALLOWED_HOSTS: List.pipe(z.array(HostName)).default([]),
  STRATA_EXPLORER_URL: WebAddress.optional(),
  STRATA_INFERENCE_LEDGER_ORIGIN: z
    .string()
    .regex(/^[a-z0-9.-]+(?:\/[a-z0-9./-]+)?$/, 'must be a host name with an optional path')
    .default('localhost/strata/inference'),
  ...WitnessEnvironment.shape,
  STRATA_ALLOW_ADDRESSES: List.pipe(z.array(AddressRange)).default([]),
  STRATA_RECEIPT_DAYS: z.coerce.number().min(1).max(36_500).default(90),
  STRATA_DRAIN_SECONDS: z.coerce.number().min(0).max(600).default(0),
  STRATA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
});

export interface GatewayConfig extends ModelSettings {
  readonly dataDirectory: string;
  /** `sqlite:<path>` or `postgres://…`; by default `inference.db` in the data directory. */
  readonly databaseUrl: string;
  /** Maximum number of connections to PostgreSQL. */
  readonly databaseConnections: number;
  readonly host: string;
  readonly port: number;
  /** Undefined: metrics are not served. */
  readonly metricsPort: number | undefined;
  /** Another server with an OpenAI-compatible API. */
  readonly upstream:
    | {
        /** Ends in /v1. */
        readonly baseUrl: string;
        readonly apiKey: string | undefined;
        readonly models: readonly string[];
        readonly slots: number;
        readonly contextLength: number | undefined;
      }
    | undefined;
  /** Undefined: only the models named above are served. */
  readonly network: NetworkConfig | undefined;
  /** Maximum number of answers that wait for a slot, in addition to those in progress. */
  readonly queue: number;
  /** Free keys that one address can get per UTC day; 0 disables free keys. */
  readonly freeKeysPerDay: number;
  /** Addresses or CIDRs of proxies; X-Forwarded-For is only trusted from these. */
  readonly trustedProxies: readonly string[];
  /** Limits on connections and concurrent answers. */
  readonly bounds: ConnectionLimits;
  /** Host names, in addition to this machine's, that are accepted in requests; `*`: any. */
  readonly allowedHosts: readonly string[];
  /** The URL of the stack service's explorer; the pages of the two services link to each other. */
  readonly explorerUrl: string | undefined;
  /** The ledger's origin in its checkpoints. It must never change. */
  readonly ledgerOrigin: string;
  /** The witnesses that cosign the ledger's checkpoints. */
  readonly witnesses: WitnessSettings | undefined;
  /** Private addresses that witnesses may have. */
  readonly allowAddresses: readonly string[];
  /** Retention of receipts in days; the ledger keeps its leaves forever. */
  readonly receiptDays: number;
  /** When stopping, requests are served for this long before connections are closed. */
  readonly drainMs: number;
  readonly logLevel: string;
}

/** The directory of signing keys, ledger, peer key and vocabularies, separate from those of the stack service. */
export function inferenceDirectory({ dataDirectory }: Pick<GatewayConfig, 'dataDirectory'>): string {
  return path.join(dataDirectory, 'inference');
}

/** Empty values are treated as absent. Throws SettingsError. */
export function readGatewayConfig(env: Readonly<Record<string, string | undefined>>): GatewayConfig {
  const settings = readEnvironment(Environment, env);
  return {
    dataDirectory: settings.STRATA_DATA,
    databaseUrl: settings.STRATA_INFERENCE_DATABASE_URL ?? `sqlite:${path.join(settings.STRATA_DATA, 'inference.db')}`,
    databaseConnections: settings.STRATA_INFERENCE_DATABASE_CONNECTIONS,
    host: settings.STRATA_HOST,
    port: settings.STRATA_INFERENCE_PORT,
    metricsPort: settings.STRATA_INFERENCE_METRICS_PORT,
    ...readModelSettings(settings, { dataDirectory: settings.STRATA_DATA }),
    upstream: upstreamOf(settings),
    network: networkConfigOf(settings, inferenceDirectory({ dataDirectory: settings.STRATA_DATA })),
    queue: settings.STRATA_QUEUE,
    freeKeysPerDay: settings.STRATA_INFERENCE_FREE_KEYS_PER_DAY,
    trustedProxies: settings.STRATA_TRUSTED_PROXIES,
    bounds: connectionLimitsOf(settings),
    allowedHosts: settings.STRATA_ALLOWED_HOSTS,
    explorerUrl: settings.STRATA_EXPLORER_URL,
    ledgerOrigin: settings.STRATA_INFERENCE_LEDGER_ORIGIN,
    witnesses: witnessesOf(settings),
    allowAddresses: settings.STRATA_ALLOW_ADDRESSES,
    receiptDays: settings.STRATA_RECEIPT_DAYS,
    drainMs: settings.STRATA_DRAIN_SECONDS * 1_000,
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}

function upstreamOf(settings: z.output<typeof Environment>): GatewayConfig['upstream'] {
  const { STRATA_UPSTREAM: baseUrl, STRATA_UPSTREAM_MODELS: names } = settings;
  if (baseUrl === undefined) return undefined;
  const models = (names ?? '').split(/[\s,]+/).filter((name) => name !== '');
  if (models.length === 0) throw new SettingsError('STRATA_UPSTREAM_MODELS: list the models of the upstream to serve');
  return {
    baseUrl,
    models: [...new Set(models)],
    apiKey: settings.STRATA_UPSTREAM_KEY,
    slots: settings.STRATA_UPSTREAM_PLACES,
    contextLength: settings.STRATA_UPSTREAM_CONTEXT,
  };
}
