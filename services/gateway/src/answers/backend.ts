// The interface of backends: an engine that processes tokens, or an upstream server that receives the conversation
// unchanged.
import type { JobContext } from '@strata/engine';
import type {
  ChatDelta,
  ChatMessage,
  ChatRequest,
  CompletionRequest,
  Generation,
  RunningUsage,
  Verified,
} from '@strata/inference';
import type { StoredChoice } from './stored/answer-log.ts';

export interface ChoiceDeps {
  /** Updated while the deltas of the choice are read. */
  readonly usage: RunningUsage;
  /** The requesting key, and a callback for the workers' segments. */
  readonly context: JobContext;
  readonly signal: AbortSignal;
  /** Of a stored answer: the tokens that it begins with, and where its next ones are recorded. */
  readonly stored?: StoredChoice | undefined;
  /** Of the key's priority, where an answer needs a slot of another model. */
  readonly share?: number;
  /** Called before the first delta, if several targets could answer. */
  readonly onAnswered?: ((by: AnsweredBy) => void) | undefined;
}

/** What gave an answer that several targets could give. */
export interface AnsweredBy {
  /** In the settings; null: this gateway or a worker. */
  readonly upstream: string | null;
  /** Its name there. */
  readonly model: string;
  readonly sha256: string | null;
  readonly engine: string;
  readonly verified: Verified;
  /** Targets that were tried, this one included. */
  readonly attempts: number;
}

export interface PlannedChoice {
  /** The index of its prompt; several choices can share one. */
  readonly prompt: number;
  /** The deltas from `begin` to `end`, as many at a time as there are. Generation stops when the consumer stops reading. */
  readonly deltas: (deps: ChoiceDeps) => AsyncIterable<readonly ChatDelta[]>;
}

/** A validated request whose choices can be generated. */
export interface Plan {
  /** Tokens of all prompts; an estimate if only the answer has the exact number. */
  readonly promptTokens: number;
  /** Maximum number of tokens of all choices; an estimate if the request does not limit them. */
  readonly answerTokens: number;
  /** As many requests of its key as the answer counts; 1 if absent. */
  readonly requests?: number;
  readonly choices: readonly PlannedChoice[];
  /** Whether choices can begin with the tokens of a stored answer. */
  readonly isContinuable?: boolean;
}

/** One vector of length 1 for each of its inputs. Adds their tokens to `usage`. */
export type EmbeddingPart = (
  usage: Pick<RunningUsage, 'promptTokens'>,
  signal: AbortSignal,
  /** As of a choice. */
  onAnswered?: ChoiceDeps['onAnswered'],
) => Promise<readonly Float32Array[]>;

export interface EmbeddingPlan {
  /** An estimate if only the answer has the exact number. */
  readonly promptTokens: number;
  /** Of consecutive inputs, can be processed concurrently. */
  readonly parts: readonly EmbeddingPart[];
}

export interface BackendFacts {
  readonly name: string;
  /** The engine or kind of server, with its version if known. */
  readonly engine: string;
  /** Hexadecimal SHA-256 of the model file; null if the server does not report it. */
  readonly sha256: string | null;
  /** Maximum number of prompt and answer tokens; null if the server does not report it. */
  readonly contextLength: number | null;
  readonly parameters: number | null;
  readonly quantisation: string | null;
  readonly sizeBytes: number | null;
  /** Maximum number of concurrent answers. */
  readonly slots: number;
}

export interface Backend {
  readonly facts: BackendFacts;
  /** How far it is proved which model answers: the weakest level of all that may answer a request. */
  readonly verified: Verified;
  /** Whether it accepts requests at present. */
  readonly isReady: boolean;
  /** Why it accepts none, where that is known. */
  readonly unavailable?: string | undefined;
  /** Whether the model is loaded: otherwise the next request loads it. Null if that is not known. */
  readonly isLoaded: boolean | null;
  /** Throws CompletionError for a conversation that the model cannot process. */
  planChat(request: ChatRequest): Promise<Plan>;
  /** The choices of all prompts, in order. Throws CompletionError for a prompt that the model cannot process. */
  planText(request: CompletionRequest): Promise<Plan>;
  /** Throws CompletionError for an input that is too long. */
  planEmbeddings(inputs: readonly (string | readonly number[])[]): Promise<EmbeddingPlan>;
}

/** Tokens to reserve for each choice of a request that does not limit them. */
const EXPECTED_TOKENS = 1_024;

/** Maximum number of tokens of a request's choices for `prompts` prompts, of at most `available` tokens each. */
export function answerTokens(
  { maxTokens = EXPECTED_TOKENS, choices }: Pick<Generation, 'maxTokens' | 'choices'>,
  { available = Number.POSITIVE_INFINITY, prompts = 1 } = {},
): number {
  return Math.min(maxTokens, available) * choices * prompts;
}

export function conversationLength(messages: readonly ChatMessage[]): number {
  const ofCalls = (calls: ChatMessage['toolCalls'] = []) =>
    calls.reduce((sum, { name, arguments: given }) => sum + name.length + given.length, 0);
  return messages.reduce((sum, { content, toolCalls }) => sum + (content?.length ?? 0) + ofCalls(toolCalls), 0);
}
