// Opens a model of another inference server as an engine. A GGUF file at this machine gives its vocabulary and chat
// template; for llama-server it is also the model itself.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Ability } from '@strata/inference';
import { EngineError, type ModelInfo } from '../engine.ts';
import { describeModel, type ModelDescription } from '../on-demand/describe-model.ts';
import { fileOf, idOf, type ModelLog, type OpenedModel, type OpenModelOptions } from '../open-model.ts';
import { failed } from '../upstream/errors.ts';
import { UpstreamHttp } from '../upstream/http.ts';
import { readMetadata } from '../vocabulary/gguf-metadata.ts';
import { type ModelVocabulary, openVocabulary } from '../vocabulary/vocabulary-engine.ts';
import { readVocabulary } from '../vocabulary/vocabulary-file.ts';
import { checkTokens, lacksByTrial, type Probed, probe } from './probe.ts';
import { RemoteEngine } from './remote-engine.ts';
import { checkText, type PromptText } from './text-server.ts';

export interface RemoteServer {
  /** Scheme, host and port. */
  readonly url: string;
  /** Of several models of the server. */
  readonly model?: string | undefined;
  /** File with the server's key. */
  readonly keyFile?: string | undefined;
}

export interface OpenedRemote extends OpenedModel {
  /** The file is the model that the server runs, as far as the server reports it. */
  readonly isFileServed: boolean;
}

const TIMING = { connectMs: 5_000, firstTokenMs: 120_000, idleMs: 30_000, retries: 0 };
/** Of all questions at the start. */
const PROBE_MS = 60_000;
/** Of those of `tryRemote`. */
const TRY_MS = 30_000;
/** Any token will do to see whether a server answers. */
const ANY_TOKEN = 1;

/** Rejects with EngineError, or with the signal's reason. */
export async function openRemoteModel(
  server: RemoteServer,
  options: OpenModelOptions,
  log: ModelLog,
): Promise<OpenedRemote> {
  await using stack = new AsyncDisposableStack();
  const file = await fileOf(options, log);
  const http = stack.use(await connect(server));
  const signal = AbortSignal.any([within(PROBE_MS), ...(options.signal ? [options.signal] : [])]);
  const probed = await probe(http, server.model, signal);
  const vocabulary = stack.use(await openVocabulary(file));
  const prompt = (await vocabulary.tokenize('Hello, world')).slice(0, 4);
  const [plain = 0] = await vocabulary.tokenize('a');
  const lacks = await lacksByTrial(http, probed, { prompt, plain, signal });
  const text = await checked(http, { probed, lacks, vocabulary, signal, bos: await bosOf(file) }, log);
  const info = await infoOf(file, probed, { options, facts: vocabulary.facts, lacks });
  const { dialect, model } = probed;
  const ends = await vocabulary.ends();
  const { firstTokenMs: firstMs, idleMs } = TIMING;
  const engine = new RemoteEngine({ http, dialect, model, info, vocabulary, ends, plain, text, firstMs, idleMs });
  log.info({ url: http.base, model, engine: info.engine, contextLength: info.contextLength, lacks }, 'engine joined');
  stack.move();
  return { id: idOf(file), file, engine, isFileServed: dialect.kind === 'llama-server' };
}

interface Checking {
  readonly probed: Probed;
  readonly lacks: readonly Ability[];
  readonly vocabulary: ModelVocabulary;
  readonly bos: number | undefined;
  readonly signal: AbortSignal;
}

/** Compares the vocabularies. Returns how prompts are written for a server without token ids. */
async function checked(
  http: UpstreamHttp,
  { probed, lacks, ...of }: Checking,
  log: ModelLog,
): Promise<PromptText | undefined> {
  const { engine, model, dialect } = probed;
  // It embeds texts: there is nothing to compare.
  if (dialect.kind === 'openai' && lacks.includes('answers')) return undefined;
  if (dialect.kind === 'openai') {
    log.warn({ engine }, 'the server has no token ids: answers cannot go on elsewhere from it, nor be audited');
    return { vocabulary: of.vocabulary, ...(await checkText(http, { model, ...of })) };
  }
  if ((await checkTokens(http, probed, of)) === undefined)
    log.warn({ engine }, 'the server tokenizes no text: its vocabulary is not compared with the file');
  return undefined;
}

async function bosOf(file: string): Promise<number | undefined> {
  const entry = (await readMetadata(file)).find(({ key }) => key === 'tokenizer.ggml.bos_token_id');
  // A number of 32 bits is its last part.
  return entry && Buffer.from(entry.bytes).readUInt32LE(entry.bytes.length - 4);
}

/** What the server is and lacks, without a file; it answers a request. Rejects as `openRemoteModel` does. */
export async function tryRemote(
  server: RemoteServer,
): Promise<Pick<Probed, 'engine' | 'model'> & Pick<ModelInfo, 'lacks'>> {
  await using http = await connect(server);
  const signal = within(TRY_MS);
  const probed = await probe(http, server.model, signal);
  const lacks = await lacksByTrial(http, probed, { prompt: [ANY_TOKEN], plain: ANY_TOKEN, signal });
  return { engine: probed.engine, model: probed.model, lacks };
}

const connect = async (server: RemoteServer) =>
  new UpstreamHttp({ ...TIMING, ...(await addressOf(server)), random: Math.random, onRetry: () => {} });

function within(ms: number): AbortSignal {
  const late = new AbortController();
  setTimeout(() => late.abort(failed(`did not answer all questions within ${ms} ms`)), ms).unref();
  return late.signal;
}

async function addressOf({
  url,
  keyFile,
}: RemoteServer): Promise<{ readonly base: string; readonly apiKey: string | undefined }> {
  const parsed = URL.parse(url);
  const isPlain = parsed && /^https?:$/.test(parsed.protocol) && !parsed.username && !parsed.password;
  if (!isPlain || parsed.search || parsed.hash || !/^\/(v1\/?)?$/.test(parsed.pathname))
    throw new EngineError('upstream-refused', 'the address of an engine must be http(s)://host:port');
  if (keyFile === undefined) return { base: parsed.origin, apiKey: undefined };
  const apiKey = (await readFile(keyFile, 'utf8')).trim();
  if (!/^[\x21-\x7e]{1,4096}$/.test(apiKey))
    throw new EngineError('upstream-refused', `the key in ${keyFile} must be printable ASCII without spaces`);
  return { base: parsed.origin, apiKey };
}

interface InfoOptions {
  readonly options: OpenModelOptions;
  readonly facts: Pick<ModelInfo, 'vocabularySize' | 'longestToken' | 'hasChatTemplate'>;
  readonly lacks: ModelInfo['lacks'];
}

/** A server of other weights than a GGUF file is named by its model and vocabulary: there is no file to compare. */
async function infoOf(file: string, probed: Probed, { options, facts, lacks }: InfoOptions): Promise<ModelInfo> {
  const { dialect, engine, model } = probed;
  const contextLength = Math.min(
    ...[options.contextLength, probed.contextLength].filter((each) => each !== undefined && each > 0).map(Number),
  );
  if (!Number.isFinite(contextLength))
    throw new EngineError(
      'model-unusable',
      `${engine} does not report its context: set context of STRATA_MODEL_OPTIONS`,
    );
  const shared = {
    ...{ ...facts, contextLength, engine: engine.slice(0, 100), ...(lacks ? { lacks } : {}) },
    slots: Math.min(options.slots, probed.slots || options.slots),
  };
  if (dialect.kind === 'llama-server') {
    const described = await describe(file, options);
    if (probed.parameters !== described.parameters || probed.vocabularySize !== described.vocabularySize)
      throw new EngineError(
        'model-unusable',
        `llama-server runs another model than ${file}: ${probed.parameters} parameters and ${probed.vocabularySize} tokens`,
      );
    return { ...described, ...shared };
  }
  const vocabulary = await readVocabulary(file);
  const architecture = (await readMetadata(file)).find(({ key }) => key === 'general.architecture')?.text ?? 'unknown';
  const sha256 = createHash('sha256').update(`engine model\n${model}\n${vocabulary.sha256}`).digest('hex');
  return { name: model, sha256, sizeBytes: 0, architecture, parameters: 0, quantisation: 'unknown', ...shared };
}

async function describe(file: string, { signal }: OpenModelOptions): Promise<ModelDescription['info']> {
  const options = { file, slots: 1, processes: 1, threads: 1, gpu: false as const };
  return (await describeModel(options, signal)).info;
}
