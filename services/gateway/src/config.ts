// The only reader of the environment: STRATA_* variables to one validated Config.
import path from 'node:path';
import { checkModelSettings, ModelEnvironment, ModelItems, readModelSettings } from '@strata/engine';
import {
  connectionLimitsOf,
  DatabaseUrl,
  itemsOf,
  LedgerOrigin,
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
import { z } from 'zod';
import { NetworkEnvironment, networkConfigOf } from './network/network-config.ts';
import { Upstreams } from './upstreams-config.ts';

/** Every setting of the gateway. `docs/settings.md` is generated from it; `absent` describes the value of an unset variable. */
export const Environment = z.object({
  ...ServiceEnvironment.shape,
  ...ServerEnvironment.shape,
  ...WitnessEnvironment.shape,
  STRATA_INFERENCE_DATABASE_URL: DatabaseUrl.optional().meta({
    description: '`sqlite:` and a file, or `postgres://user:password@host/database`, which several gateways may share',
    absent: '`sqlite:<STRATA_DATA>/inference.db`',
  }),
  STRATA_DATABASE_CONNECTIONS: PoolSize,
  STRATA_INFERENCE_PORT: Port.default(8788).describe('port of the API'),
  STRATA_METRICS_PORT: MetricsPorts,
  STRATA_INFERENCE_LEDGER_ORIGIN: LedgerOrigin.default('localhost/strata/inference').describe(
    'permanent name of the ledger: set it before the first answer',
  ),
  STRATA_UPSTREAM: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('base address, ending in `/v1`, of llama-server, vLLM, Ollama …'),
  STRATA_UPSTREAM_KEY: z.string().min(1).optional().describe('its API key'),
  STRATA_UPSTREAM_MODELS: z.string().min(1).optional().describe('its models to serve, comma-separated'),
  STRATA_UPSTREAM_OPTIONS: itemsOf({
    slots: z.coerce.number().int().min(1).max(10_000).default(8).describe('concurrent answers per model'),
    context: z.coerce.number().int().min(64).max(10_000_000).optional().meta({
      description: 'tokens of prompt and answer',
      absent: 'what the upstream reports',
    }),
  }).describe('options of its models, as `slots=16`'),
  STRATA_UPSTREAMS: Upstreams.optional().meta({
    description: 'several upstreams, and aliases with [fallbacks](inference.md#upstreams): a map, or JSON',
    absent: 'none',
  }),
  ...ModelEnvironment.shape,
  STRATA_MODEL_OPTIONS: itemsOf(ModelItems).describe('options of models, as `slots=8,gpu=auto`'),
  ...NetworkEnvironment.shape,
  STRATA_QUEUE: z.coerce
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(64)
    .describe('requests per model that may wait for a slot; further ones are refused'),
  STRATA_INFERENCE_FREE_KEYS_PER_DAY: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000)
    .default(0)
    .describe(
      'free keys per address and UTC day; its /56 4 times, /48 16 times, all clients 1,000 times as many; 0: off',
    ),
  STRATA_EXPLORER_URL: WebAddress.optional().meta({
    description: 'link of the chat to the explorer',
    absent: "with `npm start` the stack service's, if `STRATA_HOST` can be opened; else none",
  }),
  STRATA_EXPLORER_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/, 'must be an API key of the stack service')
    .optional()
    .describe(
      'API key of the stack service at that address: [answers from its data](inference.md#answers-from-the-data)',
    ),
  STRATA_RECEIPT_DAYS: z.coerce
    .number()
    .min(1)
    .max(36_500)
    .default(90)
    .describe('retention of receipts and worker receipts; ledger and counts stay'),
});

export type GatewayConfig = Readonly<ReturnType<typeof readGatewayConfig>>;

/** The directory of signing keys, ledger, peer key and vocabularies, separate from those of the stack service. */
export function inferenceDirectory({ dataDirectory }: { readonly dataDirectory: string }): string {
  return path.join(dataDirectory, 'inference');
}

/** Empty values are treated as absent. Throws SettingsError. */
export function readGatewayConfig(env: Readonly<Record<string, string | undefined>>) {
  const settings = readEnvironment(Environment.check(checkModelSettings), env);
  return {
    dataDirectory: settings.STRATA_DATA,
    databaseUrl: settings.STRATA_INFERENCE_DATABASE_URL ?? `sqlite:${path.join(settings.STRATA_DATA, 'inference.db')}`,
    databaseConnections: loweredLimit(
      settings.STRATA_DATABASE_CONNECTIONS,
      env.STRATA_INFERENCE_DATABASE_CONNECTIONS,
      2,
    ),
    host: settings.STRATA_HOST,
    port: settings.STRATA_INFERENCE_PORT,
    /** Undefined: metrics are not served. */
    metricsPort: settings.STRATA_METRICS_PORT.gateway,
    ...readModelSettings(settings, { dataDirectory: settings.STRATA_DATA }),
    upstream: upstreamOf(settings),
    upstreams: settings.STRATA_UPSTREAMS ?? Upstreams.parse(undefined),
    /** Undefined: only the models named above are served. */
    network: networkConfigOf(settings, {
      directory: inferenceDirectory({ dataDirectory: settings.STRATA_DATA }),
      env,
    }),
    queue: settings.STRATA_QUEUE,
    freeKeysPerDay: settings.STRATA_INFERENCE_FREE_KEYS_PER_DAY,
    trustedProxies: settings.STRATA_TRUSTED_PROXIES,
    limits: connectionLimitsOf(settings, env),
    allowedHosts: settings.STRATA_ALLOWED_HOSTS,
    explorerUrl: settings.STRATA_EXPLORER_URL,
    explorerKey: settings.STRATA_EXPLORER_KEY,
    ledgerOrigin: settings.STRATA_INFERENCE_LEDGER_ORIGIN,
    witnesses: settings.STRATA_WITNESSES,
    allowAddresses: settings.STRATA_ALLOW_ADDRESSES,
    receiptDays: settings.STRATA_RECEIPT_DAYS,
    drainMs: settings.STRATA_DRAIN_SECONDS === undefined ? undefined : settings.STRATA_DRAIN_SECONDS * 1_000,
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}

/** Whether the settings name a model to serve; a network adds more. */
export const namesModels = ({ models, upstream, upstreams }: GatewayConfig): boolean =>
  models.length > 0 || upstream !== undefined || upstreams.servers.length > 0;

/** Another server with an OpenAI-compatible API; its address ends in /v1. */
function upstreamOf(settings: z.output<typeof Environment>) {
  const { STRATA_UPSTREAM: baseUrl, STRATA_UPSTREAM_MODELS: names } = settings;
  if (baseUrl === undefined) return undefined;
  const models = (names ?? '').split(/[\s,]+/).filter((name) => name !== '');
  if (models.length === 0) throw new SettingsError('STRATA_UPSTREAM_MODELS: list the models of the upstream to serve');
  return {
    baseUrl,
    models: [...new Set(models)],
    apiKey: settings.STRATA_UPSTREAM_KEY,
    slots: settings.STRATA_UPSTREAM_OPTIONS.slots,
    contextLength: settings.STRATA_UPSTREAM_OPTIONS.context,
  };
}
