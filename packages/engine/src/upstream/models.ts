// Queries what an upstream serves, and detects the kind of server.
import { z } from 'zod';
import { EngineError } from '../engine.ts';
import type { UpstreamHttp } from './http.ts';
import type { UpstreamPages } from './pages.ts';

export type UpstreamKind = 'llama.cpp' | 'vllm' | 'ollama' | 'other';

export interface UpstreamInfo {
  /** The model's name on that server. */
  readonly name: string;
  /** Detected from the server's responses. */
  readonly kind: UpstreamKind;
  /** Kind and version, for `system_fingerprint`. */
  readonly engine: string;
  /** Maximum tokens of prompt and answer together; undefined if the server does not report it. */
  readonly contextLength: number | undefined;
  /** Concurrent answers. */
  readonly slots: number;
  /** Scheme, host and port. */
  readonly origin: string;
}

const LISTED_MODELS = 20;

const length = z.int().min(0).nullish();
const models = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      owned_by: z.string().nullish(),
      /** llama-server. */
      aliases: z.array(z.string()).nullish(),
      meta: z.object({ n_ctx: length, n_ctx_train: length }).nullish(),
      /** vLLM. */
      max_model_len: length,
    }),
  ),
});
/** Pages outside the API: `/props` of llama-server, and the versions of vLLM and Ollama. */
const serverShape = z.object({
  default_generation_settings: z.object({ n_ctx: length }).nullish(),
  build_info: z.string().max(128).nullish(),
  version: z.string().max(128).nullish(),
});

interface Asking {
  readonly signal: AbortSignal;
  readonly pages: UpstreamPages;
}

type Model = z.output<typeof models>['data'][number];

/** Rejects with EngineError `model-unusable` and a list of the available models if the model is missing. */
export async function describeUpstream(
  http: UpstreamHttp,
  options: { readonly model: string; readonly slots: number; readonly contextLength?: number },
  asking: Asking,
): Promise<UpstreamInfo> {
  const { model, slots } = options;
  const listed = await asking.pages.read('/models', () => listModels(http, asking.signal));
  const found = listed.find((each) => isCalled(each, model));
  if (!found) throw new EngineError('model-unusable', missing(http, model, listed));
  const { kind, version, contextLength } = await kindOf(http, found, asking);
  return {
    name: model,
    kind,
    engine: version ? `${kind} ${version}` : kind,
    // The operator's value overrides the server's.
    contextLength: options.contextLength ?? (contextLength || undefined),
    slots,
    origin: new URL(http.base).origin,
  };
}

async function listModels(http: UpstreamHttp, signal: AbortSignal): Promise<readonly Model[]> {
  const read = models.safeParse(await http.json({ path: '/models', signal }));
  if (read.success) return read.data.data;
  throw new EngineError('upstream-failed', `${http.base}/models is not a list of models`, { cause: read.error });
}

/**
 * Ollama's `latest` may be omitted, and so may the directory of a file, which is the name of llama-server's model
 * without an alias.
 */
function isCalled({ id, aliases }: Model, name: string): boolean {
  const isFile = id.endsWith('.gguf') && name === id.split(/[/\\]/).at(-1);
  return id === name || isFile || id === `${name}:latest` || Boolean(aliases?.includes(name));
}

function missing({ base }: UpstreamHttp, model: string, there: readonly Model[]): string {
  const names = there.slice(0, LISTED_MODELS).map(({ id }) => `'${id.slice(0, 128)}'`);
  const more = there.length > LISTED_MODELS ? ` and ${there.length - LISTED_MODELS} more` : '';
  const list = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}${more}`;
  return `${base} has no model '${model.slice(0, 128)}': ${list}`;
}

interface ServerKind {
  readonly kind: UpstreamKind;
  readonly version?: string | null | undefined;
  /** 0 means that the model is not loaded yet. */
  readonly contextLength?: number | null | undefined;
}

async function kindOf(http: UpstreamHttp, model: Model, { signal, pages }: Asking): Promise<ServerKind> {
  const { owned_by, meta, max_model_len } = model;
  const page = (path: string) =>
    pages.read(path, async () => serverShape.safeParse(await http.serverInfo(path, signal)).data);
  if (owned_by === 'llamacpp' || meta) {
    const props = await page('/props');
    const contextLength = props?.default_generation_settings?.n_ctx || meta?.n_ctx || meta?.n_ctx_train;
    return { kind: 'llama.cpp', version: props?.build_info, contextLength };
  }
  if (owned_by === 'vllm' || max_model_len)
    return { kind: 'vllm', version: (await page('/version'))?.version, contextLength: max_model_len };
  const version = (await page('/api/version'))?.version;
  return version === undefined || version === null ? { kind: 'other' } : { kind: 'ollama', version };
}
