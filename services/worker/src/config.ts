// The only reader of the environment: STRATA_* variables to one validated WorkerConfig.
import path from 'node:path';
import {
  checkAuditable,
  checkModelSettings,
  ModelEnvironment,
  ModelItems,
  type RemoteServer,
  readModelSettings,
} from '@strata/engine';
import { itemsOf, MetricsPorts, readEnvironment, ServiceEnvironment } from '@strata/http';
import { JoinAddresses, PeerItems, readPeerSettings } from '@strata/p2p';
import { z } from 'zod';

/** The options of the setting STRATA_ENGINE. */
const EngineItems = {
  url: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('its address'),
  model: z.string().max(512).optional().describe('its model, of several'),
  'key-file': z.string().optional().describe('file with its key'),
};

/** Every setting of a worker. `docs/settings.md` is generated from it; `absent` describes the value of an unset variable. */
export const Environment = z.object({
  ...ServiceEnvironment.shape,
  STRATA_METRICS_PORT: MetricsPorts,
  ...ModelEnvironment.shape,
  STRATA_MODEL_OPTIONS: itemsOf(ModelItems).describe('options of models, as `slots=8,gpu=auto`'),
  STRATA_ENGINE: itemsOf(EngineItems, { first: 'url' }).meta({
    description: 'inference server that runs the model, as `http://127.0.0.1:8000`',
    absent: 'llama.cpp',
  }),
  STRATA_WORKER_NAME: z.string().min(1).max(200).optional().meta({
    description: 'advertised name of the model',
    absent: "the file's name without `.gguf`",
  }),
  STRATA_QUEUE: z.coerce
    .number()
    .int()
    .min(0)
    .max(10_000)
    .default(16)
    .describe('requests per model that may wait for a slot; further ones are refused'),
  STRATA_JOIN: JoinAddresses,
  STRATA_P2P: itemsOf(PeerItems).describe('options of the libp2p host, as `mdns=off,relay=on`'),
});

export type WorkerConfig = Readonly<ReturnType<typeof readWorkerConfig>>;

/** Empty values are treated as absent. Throws SettingsError. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>>) {
  const settings = readEnvironment(Environment.check(checkModelSettings, checkAuditable), env);
  const { STRATA_HOST: host } = settings;
  const { worker: port } = settings.STRATA_METRICS_PORT;
  const directory = path.join(settings.STRATA_DATA, 'inference', 'worker');
  return {
    /** The worker's key and receipts. */
    directory,
    ...readModelSettings(settings, { dataDirectory: settings.STRATA_DATA }),
    engine: serverOf(settings.STRATA_ENGINE),
    name: settings.STRATA_WORKER_NAME,
    queue: settings.STRATA_QUEUE,
    // The worker connects to gateways; the port is for peers in the same LAN, and for gateways that discover the worker
    // first.
    peer: readPeerSettings(settings, { directory, listen: ['/ip4/0.0.0.0/tcp/0'] }),
    /** Undefined: metrics are not served. */
    metricsAt: port === undefined ? undefined : { host, port },
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}

function serverOf({
  url,
  model,
  'key-file': keyFile,
}: z.output<z.ZodObject<typeof EngineItems>>): RemoteServer | undefined {
  return url === undefined ? undefined : { url, model, keyFile };
}
