// Settings of local models, shared by gateway and worker.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type AttentionOptions, CACHE_PATTERN, cacheTypes, isAuditable, isPossible } from './attention.ts';
import type { ModelStoreOptions } from './model-store/resolve-model.ts';

/** Spread into the settings schema of the service that opens the model, beside the options of `ModelItems`. */
export const ModelEnvironment = z.object({
  STRATA_MODEL: z.string().min(1).optional().describe('GGUF files or `hf:` references, comma-separated'),
  STRATA_HF_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe('token for models that are not public, sent to `hf-endpoint` only'),
});

/** The options of the setting STRATA_MODEL_OPTIONS. */
export const ModelItems = {
  slots: z.coerce.number().int().min(1).max(64).default(4).describe('concurrent answers'),
  context: z.coerce.number().int().min(64).max(10_000_000).optional().meta({
    description: 'tokens of prompt and answer per slot',
    absent: 'what the model was trained on, at most 8192',
  }),
  gpu: z.enum(['auto', 'off']).default('off').describe('`auto` uses a GPU if there is one'),
  memory: z.coerce.number().positive().max(1_000_000).optional().meta({
    description: 'GB that loaded models may use together',
    absent: '80 % of the memory free at the start, with a GPU of its memory',
  }),
  'kv-cache': z
    .string()
    .regex(CACHE_PATTERN, 'must be f16, q8_0 or q4_0, or two of them as keys/values')
    .default('f16')
    .describe('`f16`, `q8_0`, `q4_0`, or two as `keys/values`'),
  'flash-attention': z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe('`auto`: on GPUs, and for quantised values'),
  processes: z.coerce.number().int().min(1).max(64).optional().meta({
    description: 'engine processes that share the slots',
    absent: 'one per core, at most one per slot; one for large models and GPUs',
  }),
  threads: z.coerce.number().int().min(1).max(256).optional().meta({
    description: 'threads of each process',
    absent: 'the cores but one, shared by the processes; at least 1',
  }),
  directory: z.string().optional().meta({
    description: 'downloaded models',
    absent: '`models` in the data directory',
  }),
  'hf-endpoint': z
    .url({ protocol: /^https?$/ })
    .default('https://huggingface.co')
    .describe('Hugging Face or a mirror: the source of `hf:` references'),
};

interface GivenModelSettings extends z.output<typeof ModelEnvironment> {
  readonly STRATA_MODEL_OPTIONS: z.output<z.ZodObject<typeof ModelItems>>;
}

export interface ModelSettings {
  /** GGUF files or `hf:` references. */
  readonly models: readonly string[];
  /** Memory of all loaded models; undefined: chosen for the machine. */
  readonly modelMemoryBytes: number | undefined;
  readonly modelStore: Pick<ModelStoreOptions, 'dir' | 'endpoint' | 'token'>;
  readonly slots: number;
  readonly contextLength: number | undefined;
  /** Undefined values are chosen for the machine. */
  readonly processes: number | undefined;
  readonly threads: number | undefined;
  readonly gpu: 'auto' | false;
  readonly attention: AttentionOptions;
}

/** Reads the settings; downloaded models are stored in `models` of the data directory unless a directory is set. */
export function readModelSettings(
  settings: GivenModelSettings,
  { dataDirectory }: { readonly dataDirectory: string },
): ModelSettings {
  const options = settings.STRATA_MODEL_OPTIONS;
  return {
    models: modelsOf(settings.STRATA_MODEL ?? ''),
    modelMemoryBytes: options.memory && options.memory * 1e9,
    modelStore: {
      dir: options.directory ?? path.join(dataDirectory, 'models'),
      endpoint: options['hf-endpoint'],
      token: settings.STRATA_HF_TOKEN,
    },
    slots: options.slots,
    contextLength: options.context,
    processes: options.processes,
    threads: options.threads,
    gpu: options.gpu === 'auto' ? 'auto' : false,
    attention: attentionSettings(settings),
  };
}

/** A list, unless a file has this name: paths may contain commas. */
function modelsOf(text: string): readonly string[] {
  if (existsSync(text)) return [text];
  return [...new Set(text.split(',').map((each) => each.trim()))].filter(Boolean);
}

type AttentionSettings = Pick<GivenModelSettings, 'STRATA_MODEL_OPTIONS'>;

function attentionSettings({ STRATA_MODEL_OPTIONS: options }: AttentionSettings): AttentionOptions {
  return { flash: options['flash-attention'], ...cacheTypes(options['kv-cache']) };
}

/** Refuses options that exclude each other: a check of the schema that has them. */
export function checkModelSettings({ value, issues }: z.core.ParsePayload<AttentionSettings>): void {
  if (!isPossible(attentionSettings(value)))
    issues.push(cacheIssue(value, 'quantised values need flash attention, and flash-attention is off'));
}

/** Refuses options with which audits find that a worker's answers deviate: a check of the worker's schema. */
export function checkAuditable({ value, issues }: z.core.ParsePayload<AttentionSettings>): void {
  if (!isAuditable(attentionSettings(value)))
    issues.push(cacheIssue(value, 'audits find that answers with q4_0 deviate; workers use f16 or q8_0'));
}

const cacheIssue = (input: AttentionSettings, message: string) => ({
  ...{ code: 'custom' as const, path: ['STRATA_MODEL_OPTIONS', 'kv-cache'] },
  ...{ input, message },
});
