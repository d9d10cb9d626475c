// An answer as a sequence of events, for pages and terminals.
import type { ChatRecord } from './chat-record.ts';
import type { ChatCompletionChunk } from './gateway-types.ts';

/** The events of an answer in their order; `text`, `reasoning` and `usage` can occur several times. */
export type AnswerEvent =
  | AnswerStarted
  | { readonly kind: 'text'; readonly text: string }
  /** Reasoning of the model; not part of the answer or its digest. */
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'finished'; readonly reason: string }
  | { readonly kind: 'usage'; readonly usage: AnswerUsage }
  /** The last event of a complete answer. `record` is null without a receipt. */
  | { readonly kind: 'whole'; readonly record: ChatRecord | null };

/** The service has accepted the request. */
export interface AnswerStarted {
  readonly kind: 'begun';
  /** Id of the future receipt; null where the service issues none. */
  readonly receiptId: string | null;
  /** Salt of the digests, see `ChatRecord`. */
  readonly salt: string | null;
  readonly requestId: string | null;
  /** Hex digest of the request body as it was sent; the receipt has the same. */
  readonly requestSha256: string;
}

/** Tokens as the service counted them. */
export interface AnswerUsage {
  readonly promptTokens: number;
  /** Including reasoning. */
  readonly completionTokens: number;
  /** Null where the service does not report it. */
  readonly reasoningTokens: number | null;
}

/** The events of a chunk, for its first choice. Fields of a wrong type are ignored. */
export function* eventsOfChunk({ choices, usage }: ChatCompletionChunk): Generator<AnswerEvent, void, undefined> {
  const choice = choices.find(({ index }) => index === 0);
  const delta: Readonly<Record<string, unknown>> = choice?.delta ?? {};
  // Upstream servers use either name.
  const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning);
  if (reasoning) yield { kind: 'reasoning', text: reasoning };
  const text = textOf(delta.content);
  if (text) yield { kind: 'text', text };
  const reason = textOf(choice?.finish_reason);
  if (reason) yield { kind: 'finished', reason };
  const counted = usageOf(usage);
  if (counted) yield { kind: 'usage', usage: counted };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function usageOf(usage: ChatCompletionChunk['usage']): AnswerUsage | undefined {
  const promptTokens = countOf(usage?.prompt_tokens);
  const completionTokens = countOf(usage?.completion_tokens);
  if (promptTokens === null || completionTokens === null) return undefined;
  const details = (usage?.completion_tokens_details ?? {}) as { readonly reasoning_tokens?: unknown };
  return { promptTokens, completionTokens, reasoningTokens: countOf(details.reasoning_tokens) };
}

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
