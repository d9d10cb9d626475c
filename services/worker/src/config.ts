// The only reader of the environment: STRATA_* -> one validated WorkerConfig.
import path from 'node:path';
import type { ModelStoreOptions } from '@strata/engine';
import { PeerEnvironment, type PeerSettings, readPeerSettings } from '@strata/p2p';
import { z } from 'zod';

/** Every setting: variable and default stand together; `docs/worker.md` is checked against this table. */
export const Environment = z.object({
  STRATA_DATA: z.string().min(1).default('./data'),
  STRATA_MODEL: z.string().min(1).optional(),
  STRATA_MODEL_DIRECTORY: z.string().min(1).optional(),
  STRATA_HF_ENDPOINT: z.url({ protocol: /^https?$/ }).default('https://huggingface.co'),
  STRATA_HF_TOKEN: z.string().min(1).optional(),
  STRATA_MODEL_SLOTS: z.coerce.number().int().min(1).max(64).default(4),
  STRATA_MODEL_CONTEXT: z.coerce.number().int().min(64).max(10_000_000).optional(),
  STRATA_MODEL_PROCESSES: z.coerce.number().int().min(1).max(64).optional(),
  STRATA_MODEL_THREADS: z.coerce.number().int().min(1).max(256).optional(),
  STRATA_MODEL_GPU: z.enum(['auto', 'off']).default('off'),
  STRATA_WORKER_NAME: z.string().min(1).max(200).optional(),
  STRATA_QUEUE: z.coerce.number().int().min(0).max(10_000).default(16),
  STRATA_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ...PeerEnvironment.shape,
});

export interface WorkerConfig {
  /** Where the worker keeps its key and what it has earned. */
  readonly directory: string;
  /** GGUF file or `hf:` reference. */
  readonly model: string | undefined;
  readonly modelStore: Pick<ModelStoreOptions, 'dir' | 'endpoint' | 'token'>;
  readonly slots: number;
  readonly contextLength: number | undefined;
  /** What is undefined is chosen for the machine. */
  readonly processes: number | undefined;
  readonly threads: number | undefined;
  readonly gpu: 'auto' | false;
  /** What gateways call the model; its file's name by default. */
  readonly name: string | undefined;
  /** Requests that may wait for a slot, besides those being served. */
  readonly queue: number;
  readonly peer: PeerSettings;
  readonly logLevel: string;
}

/** A setting that cannot be used; the message names the variables. */
export class WorkerConfigError extends Error {
  override readonly name = 'WorkerConfigError';
}

/** Empty values count as absent. Throws WorkerConfigError. */
export function readWorkerConfig(env: Readonly<Record<string, string | undefined>>): WorkerConfig {
  const given = Object.fromEntries(
    Object.keys(Environment.shape).flatMap((name) => {
      const value = env[name]?.trim();
      return value ? [[name, value]] : [];
    }),
  );
  const parsed = Environment.safeParse(given);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new WorkerConfigError(problems.join('; '));
  }
  const settings = parsed.data;
  const directory = path.join(settings.STRATA_DATA, 'inference', 'worker');
  return {
    directory,
    model: settings.STRATA_MODEL,
    modelStore: {
      dir: settings.STRATA_MODEL_DIRECTORY ?? path.join(settings.STRATA_DATA, 'models'),
      endpoint: settings.STRATA_HF_ENDPOINT,
      token: settings.STRATA_HF_TOKEN,
    },
    slots: settings.STRATA_MODEL_SLOTS,
    contextLength: settings.STRATA_MODEL_CONTEXT,
    processes: settings.STRATA_MODEL_PROCESSES,
    threads: settings.STRATA_MODEL_THREADS,
    gpu: settings.STRATA_MODEL_GPU === 'auto' ? 'auto' : false,
    name: settings.STRATA_WORKER_NAME,
    queue: settings.STRATA_QUEUE,
    // It dials gateways; the port is for peers of the same LAN, and for gateways that find it first.
    peer: readPeerSettings(settings, { directory, listen: ['/ip4/0.0.0.0/tcp/0'] }),
    logLevel: settings.STRATA_LOG_LEVEL,
  };
}
