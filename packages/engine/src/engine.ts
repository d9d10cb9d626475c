// What an engine is: a model that turns tokens into more tokens. Engines know nothing of HTTP, keys or other engines.
import type { ChatMessage, Sampling, Tool } from '@strata/inference';

export interface ModelInfo {
  /** What the model calls itself, or its file's name. */
  readonly name: string;
  /** Hex SHA-256 of the model file. */
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly architecture: string;
  readonly parameters: number;
  /** How its weights are kept: `F16`, `Q4_K_M` … */
  readonly quantisation: string;
  /** Tokens that prompt and answer may have together. */
  readonly contextLength: number;
  readonly vocabularySize: number;
  /** Bytes of the longest token: no text has fewer tokens than its bytes divided by this. */
  readonly longestToken: number;
  /** Answers that are made side by side. */
  readonly slots: number;
  readonly hasChatTemplate: boolean;
  /** Engine and version, for `system_fingerprint`. */
  readonly engine: string;
}

/** A conversation to be turned into the text that the model was trained on. */
export interface ChatPrompt {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
}

export interface Job {
  /** At least one token. */
  readonly prompt: readonly number[];
  /** Tokens of the answer that were given already; it goes on after them. */
  readonly given: readonly number[];
  /**
   * How given tokens are read again. `exact`: one by one, as they were made, so that the rest is what it would have been.
   * `fast`: all at once; batches round otherwise, and a near tie may fall to the other side.
   */
  readonly replay: 'exact' | 'fast';
  /** Of the answer in all, given tokens included. */
  readonly maxTokens: number;
  readonly sampling: Sampling;
  /** GBNF; given tokens are replayed through it. */
  readonly grammar?: string;
  /** Jobs with the same one are likely to begin alike. */
  readonly cacheKey?: string;
  /** Alternatives told beside each token; undefined tells no log-probabilities. */
  readonly topLogprobs?: number;
}

export interface TokenChoice {
  readonly token: number;
  /** Its UTF-8, perhaps half of a character. */
  readonly bytes: Uint8Array;
  /** Natural logarithm of its probability before anything that the request asks for. */
  readonly logprob: number;
}

export type JobEvent =
  /** `cachedTokens`: of what was given to be read, prompt first, those that had been read before. */
  | { readonly kind: 'begin'; readonly cachedTokens: number }
  | ({ readonly kind: 'token'; readonly top?: readonly TokenChoice[] } & TokenChoice)
  /** `stop`: the model ended, or its grammar is complete. `length`: `maxTokens`, or the context is full. */
  | { readonly kind: 'end'; readonly reason: 'stop' | 'length' };

/** An answer that somebody says the model gave, to be checked. */
export interface ScoreJob {
  /** At least one token. */
  readonly prompt: readonly number[];
  readonly answer: readonly number[];
  /** Whether it is said to end after its last token: then the end is scored too. */
  readonly hasEnd: boolean;
  /** As the answer was asked for: its seed is what makes each draw checkable. */
  readonly sampling: Sampling;
  readonly grammar?: string;
  /** As the job had it: an answer with a grammar is brought to a close before its limit. Undefined: as if far from it. */
  readonly maxTokens?: number;
}

/** What turns text into tokens and back: needs the model's vocabulary and template, and none of its weights. */
export interface Vocabulary {
  /** Tokens of a text; what looks like a control token is text, unless `hasControl`. */
  tokenize(text: string, options?: { readonly hasControl?: boolean }): Promise<readonly number[]>;
  /** Text of tokens; what is no UTF-8 becomes U+FFFD. */
  detokenize(tokens: readonly number[]): Promise<string>;
  /** Tokens of a conversation by the model's own template, up to where the answer begins. */
  render(prompt: ChatPrompt): Promise<readonly number[]>;
}

/** What only the one who makes an answer knows of it; engines of this machine need none of it. */
export interface JobContext {
  /** Id of the key that asks. */
  readonly caller?: string;
  /** Hears which worker made which part, as each part is over. */
  readonly onSegment?: (segment: JobSegment) => void;
}

/** A part of an answer that one worker made. */
export interface JobSegment {
  /** Peer id. */
  readonly worker: string;
  /** Hex, of the request that it was made for: names the worker's own receipt. */
  readonly nonce: string;
  /** Positions in the answer: from `from` up to, not including, `to`. */
  readonly from: number;
  readonly to: number;
  /** Hex; of the hash chain over its tokens. */
  readonly chainHead: string;
}

/**
 * One loaded model. Jobs run side by side, as many as it has slots; more wait in the order in which they came. A job whose
 * signal is aborted ends with the next token and frees its slot. Everything rejects with EngineError once the engine is gone.
 */
export interface Engine extends Vocabulary, AsyncDisposable {
  readonly info: ModelInfo;
  /** Whether it can be asked just now. */
  readonly isReady: boolean;
  generate(job: Job, signal: AbortSignal, context?: JobContext): AsyncIterable<JobEvent>;
  /**
   * For each token of the answer (and its end, where `hasEnd`): how far another one stood before it in the draw, in nats of
   * the model's logits (`marginOf`), at most 100; 0: it is the one. Read in one pass, not token by token.
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
  /** Nobody is there who could do it just now. */
  | 'nobody-there'
  /** Another server does not take what we were configured to send: its key, its address, its account. */
  | 'upstream-refused'
  /** Another server cannot be reached, fails, stalls, or says what cannot be read. */
  | 'upstream-failed';

export class EngineError extends Error {
  override readonly name = 'EngineError';
  readonly code: EngineErrorCode;

  constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The grammar of this very job kept the engine from all others, and had to be ended with its process. */
export class EndlessGrammarError extends EngineError {
  constructor() {
    super('grammar-unusable', 'the grammar of this answer runs on without end');
  }
}
