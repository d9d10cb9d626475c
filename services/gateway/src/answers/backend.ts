// What answers behind the contract: an engine that is fed tokens, or a server that takes conversations as they are.
import type { JobContext } from '@strata/engine';
import type { ChatDelta, ChatRequest, CompletionRequest } from '@strata/inference';

/** Counted while the deltas of a choice are read. */
export interface ChoiceUsage {
  promptTokens: number;
  completionTokens: number;
  /** Of the prompt, read before. */
  cachedTokens: number;
}

export interface ChoiceDeps {
  readonly usage: ChoiceUsage;
  /** Who asks, and who hears which worker made what. */
  readonly context: JobContext;
  readonly signal: AbortSignal;
}

export interface PlannedChoice {
  /** Number of its prompt; several choices may be made of one. */
  readonly prompt: number;
  /** Deltas from `begin` to `end`. Whoever stops reading stops the work. */
  readonly deltas: (deps: ChoiceDeps) => AsyncIterable<ChatDelta>;
}

/** A request that can be served: what is left is to make its choices. */
export interface Plan {
  /** Tokens of all prompts; an estimate where only the answer tells. */
  readonly promptTokens: number;
  readonly choices: readonly PlannedChoice[];
}

export interface EmbeddingPlan {
  /** An estimate where only the answer tells. */
  readonly promptTokens: number;
  /** One vector of length 1 for each input. */
  readonly embed: (signal: AbortSignal) => Promise<Embeddings>;
}

export interface Embeddings {
  readonly vectors: readonly Float32Array[];
  readonly promptTokens: number;
}

export interface BackendFacts {
  readonly name: string;
  /** Engine or kind of server, with its version where it is known. */
  readonly engine: string;
  /** Hex SHA-256 of the model file; null where a server does not tell. */
  readonly sha256: string | null;
  /** Tokens of prompt and answer together; null where a server does not tell. */
  readonly contextLength: number | null;
  readonly parameters: number | null;
  readonly quantisation: string | null;
  readonly sizeBytes: number | null;
  /** Answers made side by side. */
  readonly slots: number;
}

export interface Backend {
  readonly facts: BackendFacts;
  /** Whether it can be asked just now. */
  readonly isReady: boolean;
  /** Throws CompletionError for a conversation that the model cannot take. */
  planChat(request: ChatRequest): Promise<Plan>;
  /** Choices of each prompt, prompt by prompt. Throws CompletionError for a prompt that the model cannot take. */
  planText(request: CompletionRequest): Promise<Plan>;
  /** Throws CompletionError for an input that is too long. */
  planEmbeddings(inputs: readonly (string | readonly number[])[]): Promise<EmbeddingPlan>;
}
