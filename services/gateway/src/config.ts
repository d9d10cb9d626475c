// The only reader of the environment: STRATA_* -> one validated Config.
import path from 'node:path';
import { ModelEnvironment, type ModelSettings, readModelSettings } from '@strata/engine';
import {
  AddressRange,
  BoundEnvironment,
  type Bounds,
  boundsOf,
  DatabaseUrl,
  HostName,
  List,
  PoolSize,
  readEnvironment,
  WebAddress,
  WitnessEnvironment,
  type WitnessSettings,
  witnessesOf,
} from '@strata/http';
import { z } from 'zod';
import { type NetworkConfig, NetworkEnvironment, networkConfigOf } from './network/network-config.ts';

const Port = z.coerce.number().int().min(0).max(65_535);

/** Every setting: variable, meaning and default stand together; `docs/inference.md` is checked against this table. */
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
  ...BoundEnvironment.shape,
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
  /** To PostgreSQL, at most. */
  readonly databaseConnections: number;
  readonly host: string;
  readonly port: number;
  /** Undefined: figures are served nowhere. */
  readonly metricsPort: number | undefined;
  /** Another server that speaks the contract. */
  readonly upstream:
    | {
        /** Ends in /v1. */
        readonly baseUrl: string;
        readonly apiKey: string | undefined;
        readonly models: readonly string[];
        readonly places: number;
        readonly contextLength: number | undefined;
      }
    | undefined;
  /** Undefined: only what is named above is served. */
  readonly network: NetworkConfig | undefined;
  /** Answers that may wait for a slot, besides those being made. */
  readonly queue: number;
  /** Free keys that one address may get in a UTC day; 0: none are given away. */
  readonly freeKeysPerDay: number;
  /** Addresses or CIDRs: only their X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Of connections and answers. */
  readonly bounds: Bounds;
  /** Names, besides this machine's, that requests may be addressed to; `*`: any. */
  readonly allowedHosts: readonly string[];
  /** Where readers find the explorer of the stack service; its pages and ours name each other. */
  readonly explorerUrl: string | undefined;
  /** The ledger's name in its checkpoints, for ever. */
  readonly ledgerOrigin: string;
  /** They cosign the ledger's checkpoints. */
  readonly witnesses: WitnessSettings | undefined;
  /** Private addresses at which witnesses may be. */
  readonly allowAddresses: readonly string[];
  /** Receipts can be fetched for so long; the ledger keeps its leaves for ever. */
  readonly receiptDays: number;
  /** Told to be stopping, it answers on for so long before it closes connections. */
  readonly drainMs: number;
  readonly logLevel: string;
}

/** Where signing keys, ledger, peer key and vocabularies are, beside those of the stack. */
export function inferenceDirectory({ dataDirectory }: Pick<GatewayConfig, 'dataDirectory'>): string {
  return path.join(dataDirectory, 'inference');
}

/** A setting that cannot be used; the message names the variables. */
export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError';
}

/** Empty values count as absent. Throws GatewayConfigError. */
export function readGatewayConfig(env: Readonly<Record<string, string | undefined>>): GatewayConfig {
  const settings = readEnvironment(Environment, env, (problems) => new GatewayConfigError(problems));
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
    bounds: boundsOf(settings),
    allowedHosts: settings.STRATA_ALLOWED_HOSTS,
    explorerUrl: settings.STRATA_EXPLORER_URL,
    ledgerOrigin: settings.STRATA_INFERENCE_LEDGER_ORIGIN,
    witnesses: witnessesOf(settings, (problem) => new GatewayConfigError(problem)),
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
  if (models.length === 0)
    throw new GatewayConfigError('STRATA_UPSTREAM_MODELS: name the models of the upstream that are to be served');
  return {
    baseUrl,
    models: [...new Set(models)],
    apiKey: settings.STRATA_UPSTREAM_KEY,
    places: settings.STRATA_UPSTREAM_PLACES,
    contextLength: settings.STRATA_UPSTREAM_CONTEXT,
  };
}
