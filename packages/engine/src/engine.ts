// The engine interface: a model that generates tokens. Engines know nothing of HTTP, keys or other engines.
// engines.
import type { Ability, ChatMessage, Sampling, Tool, Verified } from '@strata/inference';

export interface ModelInfo {
  /** The model's own name, or its file's name. */
  readonly name: string;
  /** Hex SHA-256 of the model file. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly architecture: string;
  readonly parameters: number;
  /** Storage format of the weights: `F16`, `Q4_K_M` … */
  readonly quantisation: string;
  /** Maximum tokens of prompt and answer together. */
  readonly contextLength: number;
  readonly vocabularySize: number;
  /** Bytes of the longest token: no text has fewer tokens than its bytes divided by this. */
  readonly longestToken: number;
  /** Answers that can be generated concurrently. */
  readonly slots: number;
  readonly hasChatTemplate: boolean;
  /** Engine and version, for `system_fingerprint`. */
  readonly engine: string;
  /** What it cannot do; absent: nothing. */
  readonly lacks?: readonly Ability[];
  /** Where a GPU has layers of it: their number, and the device. */
  readonly gpu?: { readonly device: string; readonly layers: number };
}

/** A conversation to be rendered with the model's chat template. */
export interface ChatPrompt {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** Further variables of the template: `enable_thinking`, `reasoning_effort` … */
  readonly variables?: Readonly<Record<string, unknown>>;
}

export interface Job {
  /** At least one token. */
  readonly prompt: readonly number[];
  /** Tokens of the answer that were generated before; the answer continues after them. */
  readonly given: readonly number[];
  /**
   * How given tokens are read again. `exact`: one by one, as they were generated, so that the continuation is
   * identical. `fast`: in batches; batches round differently, so a near tie may resolve differently.
   */
  readonly replay: 'exact' | 'fast';
  /** Of the complete answer, given tokens included. */
  readonly maxTokens: number;
  readonly sampling: Sampling;
  /** GBNF; given tokens are replayed through it. */
  readonly grammar?: string;
  /** Jobs with the same key probably share a prefix. */
  readonly cacheKey?: string;
  /** Alternatives reported with each token; undefined reports no log-probabilities. */
  readonly topLogprobs?: number;
}

export interface TokenChoice {
  readonly token: number;
  /** Its UTF-8 bytes; may end in the middle of a character. */
  readonly bytes: Uint8Array;
  /** Natural logarithm of its probability before sampling options apply. */
  readonly logprob: number;
}

export type JobEvent =
  /** `cachedTokens`: tokens of the input, prompt first, that the slot had already read. */
  | { readonly kind: 'begin'; readonly cachedTokens: number }
  | ({ readonly kind: 'token'; readonly top?: readonly TokenChoice[] } & TokenChoice)
  /** `stop`: the model ended, or its grammar is complete. `length`: `maxTokens`, or the context is full. */
  | { readonly kind: 'end'; readonly reason: 'stop' | 'length' };

/** An answer that is attributed to the model, to be checked. */
export interface ScoreJob {
  /** At least one token. */
  readonly prompt: readonly number[];
  readonly answer: readonly number[];
  /** Whether the answer is claimed to end after its last token: then the end is scored too. */
  readonly hasEnd: boolean;
  /** The sampling of the original request: its seed makes each draw checkable. */
  readonly sampling: Sampling;
  readonly grammar?: string;
  /** Limit of the original job: an answer with a grammar is closed before its limit. Undefined: no limit nearby. */
  readonly maxTokens?: number;
}

/** What a model's answers are read with. */
export interface ModelMarks {
  /** Jinja; empty without a template. */
  readonly template: string;
  /** The control tokens that the template contains, with their texts. */
  readonly controls: ReadonlyMap<number, string>;
}

/** Converts between text and tokens: needs the model's vocabulary and template, but not its weights. */
export interface Vocabulary {
  /** Tokens of a text; control tokens in it are plain text, unless `hasControl`. */
  tokenize(text: string, options?: { readonly hasControl?: boolean }): Promise<readonly number[]>;
  /** Text of tokens; invalid UTF-8 becomes U+FFFD. */
  detokenize(tokens: readonly number[]): Promise<string>;
  /** Tokens of a conversation rendered with the model's template, up to the start of the answer. */
  render(prompt: ChatPrompt): Promise<readonly number[]>;
  marks(): Promise<ModelMarks>;
}

/** Facts of the caller of a job; local engines ignore them. */
export interface JobContext {
  /** Id of the API key of the request. */
  readonly caller?: string;
  /** Called with the worker of each segment when that segment ends. */
  readonly onSegment?: (segment: JobSegment) => void;
}

/** A part of an answer generated by one worker. */
export interface JobSegment {
  /** Peer id. */
  readonly worker: string;
  /** Hex nonce of the request to the worker: identifies the worker's own receipt. */
  readonly nonce: string;
  /** Positions in the answer: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** Hex; of the hash chain over its tokens. */
  readonly chainHead: string;
  /** How far it is proved which model this worker runs. */
  readonly verified: Verified;
}

/**
 * One loaded model. As many jobs run concurrently as it has slots; further jobs wait in order of arrival. An aborted
 * job ends with the next token and frees its slot. Everything rejects with EngineError after the engine is disposed.
 */
export interface Engine extends Vocabulary, AsyncDisposable {
  readonly info: ModelInfo;
  /** Whether it currently accepts jobs. */
  readonly isReady: boolean;
  /** False: the next job loads the model first. Absent: it is always loaded. */
  readonly isLoaded?: boolean;
  /** Whether it is being loaded, or waits for the memory. */
  readonly isLoading?: boolean;
  /** Estimated memory that it holds while it is loaded, where models share a budget. */
  readonly memoryBytes?: number | undefined;
  /** Why it accepts no jobs, where that is known: a public text. */
  readonly unavailable?: string | undefined;
  generate(job: Job, signal: AbortSignal, context?: JobContext): AsyncIterable<JobEvent>;
  /**
   * For each token of the answer (and its end, where `hasEnd`): by how much another token exceeded it in the draw, in
   * nats of the model's logits (`marginOf`), at most 100; 0: it is the drawn token. Computed in one pass, not token by
   * token.
   */
  score(job: ScoreJob, signal: AbortSignal): Promise<readonly number[]>;
  /** A vector of length 1. */
  embed(tokens: readonly number[], signal: AbortSignal): Promise<Float32Array>;
}

export type EngineErrorCode =
  | 'model-unusable'
  | 'template-failed'
  | 'grammar-unusable'
  | 'prompt-empty'
  /** Prompt and answer have more tokens than the context. */
  | 'job-too-long'
  | 'crashed'
  /** The model is loaded on demand, and that failed or is not possible at present. */
  | 'not-loaded'
  /** Vectors of the model need more memory than is configured: every call will fail. */
  | 'vectors-too-large'
  /** The engine, or every worker that is left, cannot do what the request needs. */
  | 'unsupported'
  /** No engine or worker is available. */
  | 'no-worker'
  /** An upstream rejects our configuration: key, address or account. */
  | 'upstream-refused'
  /** An upstream is unreachable, fails, stalls, or sends an unreadable response. */
  | 'upstream-failed';

export class EngineError extends Error {
  override readonly name = 'EngineError';
  /** Of a program that ends with this error. */
  readonly exitCode = 1;
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The job's own grammar blocked the engine; its process was killed. */
export class EndlessGrammarError extends EngineError {
  constructor() {
    super('grammar-unusable', 'the grammar of this answer does not terminate');
  }
}
