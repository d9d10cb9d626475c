// One answer, told as what happens to it: the form that both a page and a terminal show.
import type { ChatRecord } from './chat-record.ts';
import type { ChatCompletionChunk } from './gateway-types.ts';

/** What happens to an answer, in this order; `text`, `reasoning` and `usage` as often as they come. */
export type AnswerEvent =
  | AnswerBegun
  | { readonly kind: 'text'; readonly text: string }
  /** What a model says to itself before it answers; never part of the answer, nor of its digest. */
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'finished'; readonly reason: string }
  | { readonly kind: 'usage'; readonly usage: AnswerUsage }
  /** Nothing follows. Null where there is no receipt. */
  | { readonly kind: 'whole'; readonly record: ChatRecord | null };

/** It is being worked on. */
export interface AnswerBegun {
  readonly kind: 'begun';
  /** That its receipt will have; null where the service keeps none. */
  readonly receiptId: string | null;
  /** Of the receipt's digests, see `ChatRecord`. */
  readonly salt: string | null;
  readonly requestId: string | null;
  /** Hex, of the request's body as it was sent; the receipt has the same. */
  readonly requestSha256: string;
}

/** Tokens as the service counted them. */
export interface AnswerUsage {
  readonly promptTokens: number;
  /** Of the answer, reasoning included. */
  readonly completionTokens: number;
  /** Null where the service does not tell. */
  readonly reasoningTokens: number | null;
}

/** What a chunk tells of the first choice; fields that are not what they should be tell nothing. */
export function* eventsOfChunk({ choices, usage }: ChatCompletionChunk): Generator<AnswerEvent, void, undefined> {
  const choice = choices.find(({ index }) => index === 0);
  const delta: Readonly<Record<string, unknown>> = choice?.delta ?? {};
  // Servers behind a gateway call it either way.
  const reasoning = wordsOf(delta.reasoning_content) || wordsOf(delta.reasoning);
  if (reasoning) yield { kind: 'reasoning', text: reasoning };
  const text = wordsOf(delta.content);
  if (text) yield { kind: 'text', text };
  const reason = wordsOf(choice?.finish_reason);
  if (reason) yield { kind: 'finished', reason };
  const counted = usageOf(usage);
  if (counted) yield { kind: 'usage', usage: counted };
}

const wordsOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function usageOf(usage: ChatCompletionChunk['usage']): AnswerUsage | undefined {
  const promptTokens = countOf(usage?.prompt_tokens);
  const completionTokens = countOf(usage?.completion_tokens);
  if (promptTokens === null || completionTokens === null) return undefined;
  const details = (usage?.completion_tokens_details ?? {}) as { readonly reasoning_tokens?: unknown };
  return { promptTokens, completionTokens, reasoningTokens: countOf(details.reasoning_tokens) };
}

const countOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
