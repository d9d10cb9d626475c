// The only reader of the environment: STRATA_* variables to one validated WorkerConfig.
import path from 'node:path';
import { ModelEnvironment, type ModelSettings, readModelSettings } from '@strata/engine';
import { readEnvironment } from '@strata/http';
import { PeerEnvironment, type PeerSettings, readPeerSettings } from '@strata/p2p';
import { z } from 'zod';

/** All settings: variable, validation and default. `docs/worker.md` is checked against this table. */
export const Environment = z.object({
  STRATA_DATA: z.string().min(1).default('./data'),
  STRATA_HOST: z.string().min(1).default('127.0.0.1'),
  STRATA_WORKER_METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  ...ModelEnvironment.shape,
  STRATA_WORKER_NAME: z.string().min(1).max(200).optional(),
  STRATA_QUEUE: z.coerce.number().int().min(0).max(10_000).default(16),
  STRATA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ...PeerEnvironment.shape,
});

export interface WorkerConfig extends ModelSettings {
  /** The directory of the worker's key and receipts. */
  readonly directory: string;
  /** The name of the model in the network; the file name by default. */
  readonly name: string | undefined;
  /** Maximum number of requests that wait for a slot, in addition to those being served. */
  readonly queue: number;
  readonly peer: PeerSettings;
  /** Undefined: metrics are not served. */
  readonly metricsAt: { readonly host: string; readonly port: number } | undefined;
  readonly logLevel: string;
}

/** Empty values are treated as absent. Throws SettingsError. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  const settings = readEnvironment(Environment, env);
  const { STRATA_HOST: host, STRATA_WORKER_METRICS_PORT: port } = settings;
  const directory = path.join(settings.STRATA_DATA, 'inference', 'worker');
  return {
    directory,
    ...readModelSettings(settings, { dataDirectory: settings.STRATA_DATA }),
    name: settings.STRATA_WORKER_NAME,
    queue: settings.STRATA_QUEUE,
    // The worker connects to gateways; the port is for peers in the same LAN, and for gateways that discover the worker
    // first.
    peer: readPeerSettings(settings, { directory, listen: ['/ip4/0.0.0.0/tcp/0'] }),
    metricsAt: port === undefined ? undefined : { host, port },
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}
