// What an inference server is and can do, asked when the worker joins: kind, model, context, slots, vocabulary, grammars.
import { type Ability, abilitiesIn, CompletionError, GREEDY } from '@strata/inference';
import { z } from 'zod';
import { EngineError, type Job } from '../engine.ts';
import type { UpstreamHttp } from '../upstream/http.ts';
import type { ModelVocabulary } from '../vocabulary/vocabulary-engine.ts';
import { TENSORRT_LLM, VLLM } from './completions.ts';
import { type Dialect, read } from './dialect.ts';
import { LLAMA_SERVER } from './llama-server.ts';
import { SGLANG } from './sglang.ts';
import { embedTexts, TEXT_SERVER } from './text-server.ts';

export interface Probed {
  readonly dialect: Dialect;
  /** The model's name at the server. */
  readonly model: string;
  /** Kind and version. */
  readonly engine: string;
  /** Undefined: the server does not report it. */
  readonly contextLength: number | undefined;
  readonly slots: number | undefined;
  readonly vocabularySize: number | undefined;
  readonly parameters: number | undefined;
}

const count = z.int().min(0).max(1e15).nullish();
const models = z.object({
  data: z
    .array(
      z.object({
        id: z.string().min(1).max(512),
        owned_by: z.string().max(128).nullish(),
        max_model_len: count,
        meta: z.object({ n_ctx: count, n_vocab: count, n_params: count }).nullish(),
      }),
    )
    .min(1)
    .max(1_000),
});
type Listed = z.output<typeof models>['data'][number];

const text = z.string().max(128).nullish();
const pages = z.object({
  total_slots: count,
  build_info: text,
  version: text,
  max_running_requests: count,
  default_generation_settings: z.object({ n_ctx: count }).nullish(),
});

const KINDS: Readonly<Record<string, Dialect>> = {
  llamacpp: LLAMA_SERVER,
  vllm: VLLM,
  sglang: SGLANG,
  tensorrt_llm: TENSORRT_LLM,
};
const TEXT = 'Hello';

/** Rejects with EngineError, or with the signal's reason. */
export async function probe(http: UpstreamHttp, wanted: string | undefined, signal: AbortSignal): Promise<Probed> {
  const { data } = read(models, await http.json({ path: '/v1/models', signal }), 'no list of models');
  const found = wanted === undefined ? data[0] : data.find(({ id }) => id === wanted);
  const names = data.slice(0, 20).map(({ id }) => `'${id}'`);
  if (!found) throw unusable(`${http.base} has no model '${wanted}': it has ${names.join(', ')}`);
  if (wanted === undefined && data.length > 1)
    throw unusable(`${http.base} has several models: choose one with model=… of STRATA_ENGINE: ${names.join(', ')}`);
  return describe(http, { dialect: KINDS[found.owned_by ?? ''] ?? TEXT_SERVER, found, signal });
}

async function describe(
  http: UpstreamHttp,
  { dialect, found, signal }: { readonly dialect: Dialect; readonly found: Listed; readonly signal: AbortSignal },
): Promise<Probed> {
  const page = async (path: string) => pages.safeParse(await http.serverInfo(path, signal)).data;
  const { id: model, max_model_len, meta } = found;
  const named = (version: string | null | undefined) => (version ? `${dialect.kind} ${version}` : dialect.kind);
  const known = {
    ...{ dialect, model, vocabularySize: meta?.n_vocab ?? undefined, parameters: meta?.n_params ?? undefined },
    contextLength: max_model_len ?? undefined,
  };
  if (dialect.kind === 'llama-server') {
    const props = await page('/props');
    const contextLength = props?.default_generation_settings?.n_ctx || meta?.n_ctx || undefined;
    return { ...known, engine: named(props?.build_info), contextLength, slots: props?.total_slots ?? undefined };
  }
  if (dialect.kind === 'sglang') {
    const info = (await page('/server_info')) ?? (await page('/get_server_info'));
    return { ...known, engine: named(info?.version), slots: info?.max_running_requests ?? undefined };
  }
  if (dialect.kind === 'openai') {
    const ollama = (await page('/api/version'))?.version;
    return { ...known, engine: ollama ? `ollama ${ollama}` : dialect.kind, slots: undefined };
  }
  return { ...known, engine: named((await page('/version'))?.version), slots: undefined };
}

const PROBE_TEXT = 'The quick brown fox jumps over 13 lazy dogs; a vocabulary shows itself.\n';
const tokenized = z.object({ tokens: z.array(z.int().min(0)).max(10_000) });
const TOKENIZERS: Readonly<Partial<Record<Dialect['kind'], { readonly path: string; readonly body: object }>>> = {
  'llama-server': { path: '/tokenize', body: { content: PROBE_TEXT, add_special: false, parse_special: false } },
  vllm: { path: '/tokenize', body: { prompt: PROBE_TEXT, add_special_tokens: false } },
  sglang: { path: '/tokenize', body: { prompt: PROBE_TEXT, add_special_tokens: false } },
};

/**
 * Whether the server tokenizes as the vocabulary does; undefined: the server does not report it. Rejects with EngineError
 * `model-unusable` if it does not.
 */
export async function checkTokens(
  http: UpstreamHttp,
  { dialect, model }: Probed,
  { vocabulary, signal }: { readonly vocabulary: ModelVocabulary; readonly signal: AbortSignal },
): Promise<boolean | undefined> {
  const tokenizer = TOKENIZERS[dialect.kind];
  if (!tokenizer) return undefined;
  const body = { model, ...tokenizer.body };
  const answer = await http.json({ path: tokenizer.path, body, signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof CompletionError) return undefined;
    throw error;
  });
  if (answer === undefined) return undefined;
  const { tokens } = read(tokenized, answer, 'no tokens of a text');
  if (tokens.join() === (await vocabulary.tokenize(PROBE_TEXT)).join()) return true;
  throw unusable(`${http.base} has another vocabulary than the file of --model`);
}

export interface Trial {
  readonly prompt: readonly number[];
  /** A token that is text. */
  readonly plain: number;
  readonly signal: AbortSignal;
}

/** Abilities that only a request shows. */
export async function lacksByTrial(
  http: UpstreamHttp,
  { dialect, model }: Probed,
  { prompt, plain, signal }: Trial,
): Promise<readonly Ability[]> {
  const job: Job = { prompt, given: [], replay: 'fast', maxTokens: 1, sampling: GREEDY };
  const works = async (change: Partial<Job>): Promise<boolean> => {
    const ask = { model, job: { ...job, ...change }, tokens: prompt, text: TEXT, count: 1, isStreamed: false };
    try {
      dialect.reader(ask)(await http.json({ path: dialect.path, body: dialect.body(ask), signal }));
      return true;
    } catch (error) {
      signal.throwIfAborted();
      // A server that can do nothing at all is reported by the first trial.
      if (change === job && embeddings.length > 0) throw error;
      return false;
    }
  };
  const embeddings = await embedTexts(http, { model, inputs: [TEXT], signal }).then(
    (): readonly Ability[] => [],
    (): readonly Ability[] => {
      signal.throwIfAborted();
      return ['embeddings'];
    },
  );
  // Servers of embeddings generate nothing.
  if (!(await works(job))) return abilitiesIn(-1).filter((each) => each !== 'embeddings');
  const tried = (ability: Ability, change: Partial<Job>) => async (): Promise<readonly Ability[]> =>
    dialect.lacks.includes(ability) || (await works(change)) ? [] : [ability];
  const grammar = await tried('grammar', { grammar: 'root ::= "a"' })();
  const logprobs = await tried('logprobs', { topLogprobs: 1 })();
  const scores = await scoresNothing();
  return [...new Set([...dialect.lacks, ...grammar, ...logprobs, ...scores, ...embeddings])];

  async function scoresNothing(): Promise<readonly Ability[]> {
    if (!dialect.positions) return ['scores'];
    const json = (ask: { readonly path: string; readonly body?: unknown }) => http.json({ ...ask, signal });
    const asked = { model, prompt, answer: prompt.slice(0, 1), end: undefined, top: 1, plain, json };
    const read = await dialect.positions(asked).catch(() => signal.throwIfAborted());
    return read?.length === 1 ? [] : ['scores'];
  }
}

const unusable = (message: string) => new EngineError('model-unusable', message);
