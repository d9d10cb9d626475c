// Settings of local models, shared by gateway and worker.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { type AttentionOptions, CACHE_PATTERN, cacheTypes, isAuditable, isPossible } from './attention.ts';
import type { ModelStoreOptions } from './model-store/resolve-model.ts';

/** Spread into the settings schema of the service that opens the model. */
export const ModelEnvironment = z.object({
  STRATA_MODEL: z.string().min(1).optional().describe('GGUF files or `hf:` references, comma-separated'),
  STRATA_MODEL_MEMORY: z.coerce.number().positive().max(1_000_000).optional().meta({
    description: 'GB that loaded models may use together',
    absent: '80 % of the memory free at the start, with a GPU of its memory',
  }),
  STRATA_MODEL_DIRECTORY: z.string().min(1).optional().meta({
    description: 'downloaded models',
    absent: '`models` in the data directory',
  }),
  STRATA_HF_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .default('https://huggingface.co')
    .describe('Hugging Face or a mirror: the source of `hf:` references'),
  STRATA_HF_TOKEN: z
    .string()
    .min(1)
    .optional()
    .describe('token for models that are not public, sent to that endpoint only'),
  STRATA_MODEL_SLOTS: z.coerce.number().int().min(1).max(64).default(4).describe('concurrent answers'),
  STRATA_MODEL_CONTEXT: z.coerce.number().int().min(64).max(10_000_000).optional().meta({
    description: 'tokens of prompt and answer per slot',
    absent: 'what the model was trained on, at most 8192',
  }),
  STRATA_MODEL_PROCESSES: z.coerce.number().int().min(1).max(64).optional().meta({
    description: 'engine processes that share the slots',
    absent: 'one per core, at most one per slot; one for large models and GPUs',
  }),
  STRATA_MODEL_THREADS: z.coerce.number().int().min(1).max(256).optional().meta({
    description: 'threads of each process',
    absent: 'the cores but one, shared by the processes; at least 1',
  }),
  STRATA_MODEL_GPU: z.enum(['auto', 'off']).default('off').describe('`auto` uses a GPU if there is one'),
  STRATA_MODEL_FLASH_ATTENTION: z
    .enum(['auto', 'on', 'off'])
    .default('auto')
    .describe('`auto`: on GPUs, and for quantised values'),
  STRATA_MODEL_KV_CACHE: z
    .string()
    .regex(CACHE_PATTERN, 'must be f16, q8_0 or q4_0, or two of them as keys/values')
    .default('f16')
    .describe('`f16`, `q8_0`, `q4_0`, or two as `keys/values`'),
});

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
  settings: z.output<typeof ModelEnvironment>,
  { dataDirectory }: { readonly dataDirectory: string },
): ModelSettings {
  return {
    models: modelsOf(settings.STRATA_MODEL ?? ''),
    modelMemoryBytes: settings.STRATA_MODEL_MEMORY && settings.STRATA_MODEL_MEMORY * 1e9,
    modelStore: {
      dir: settings.STRATA_MODEL_DIRECTORY ?? path.join(dataDirectory, 'models'),
      endpoint: settings.STRATA_HF_ENDPOINT,
      token: settings.STRATA_HF_TOKEN,
    },
    slots: settings.STRATA_MODEL_SLOTS,
    contextLength: settings.STRATA_MODEL_CONTEXT,
    processes: settings.STRATA_MODEL_PROCESSES,
    threads: settings.STRATA_MODEL_THREADS,
    gpu: settings.STRATA_MODEL_GPU === 'auto' ? 'auto' : false,
    attention: attentionSettings(settings),
  };
}

/** A list, unless a file has this name: paths may contain commas. */
function modelsOf(text: string): readonly string[] {
  if (existsSync(text)) return [text];
  return [...new Set(text.split(',').map((each) => each.trim()))].filter(Boolean);
}

function attentionSettings(settings: AttentionSettings): AttentionOptions {
  return { flash: settings.STRATA_MODEL_FLASH_ATTENTION, ...cacheTypes(settings.STRATA_MODEL_KV_CACHE) };
}

type AttentionSettings = Pick<
  z.output<typeof ModelEnvironment>,
  'STRATA_MODEL_FLASH_ATTENTION' | 'STRATA_MODEL_KV_CACHE'
>;

/** Refuses settings that exclude each other: a check of the schema that `ModelEnvironment` is spread into. */
export function checkModelSettings({ value, issues }: z.core.ParsePayload<AttentionSettings>): void {
  if (isPossible(attentionSettings(value))) return;
  const message = 'quantised values need flash attention, and STRATA_MODEL_FLASH_ATTENTION is off';
  issues.push({ code: 'custom', input: value, path: ['STRATA_MODEL_KV_CACHE'], message });
}

/** Refuses settings with which audits find that a worker's answers deviate: a check of the worker's schema. */
export function checkAuditable({ value, issues }: z.core.ParsePayload<AttentionSettings>): void {
  if (isAuditable(attentionSettings(value))) return;
  const message = 'audits find that answers with q4_0 deviate; workers use f16 or q8_0';
  issues.push({ code: 'custom', input: value, path: ['STRATA_MODEL_KV_CACHE'], message });
}
