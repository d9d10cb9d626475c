// What was asked and said in one chat, as digests: a receipt holds the same two, and nobody's text.
import { canonicalize, encodeHex, sha256 } from '@strata/receipts';
import type { ChatCompletionChunk } from './gateway-types.ts';

/** Names one answer: keep it with the answer, to verify that the receipt is of these very words. */
export interface ChatRecord {
  /** From `x-receipt-id`. */
  readonly receiptId: string;
  /** Of the request's body as it was sent. */
  readonly requestSha256: string;
  /** Of the RFC 8785 text of what was said, as docs/inference.md describes. */
  readonly answerSha256: string;
}

interface Saying {
  content: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
}

/** The most that a request may ask for is far below: no server makes the list long. */
const MAX_PLACES = 1_000;

/** Puts the chunks of a stream together, choice by choice. */
export class ChatContent {
  readonly #choices: (Saying | undefined)[] = [];

  take({ choices }: Pick<ChatCompletionChunk, 'choices'>): void {
    for (const { index, delta, finish_reason } of choices) {
      if (!isPlace(index)) continue;
      this.#choices[index] ??= { content: '', calls: [], finishReason: null };
      const choice = this.#choices[index];
      choice.content += textIn(delta?.content);
      for (const { index: place, id, function: called } of delta?.tool_calls ?? []) {
        if (!isPlace(place)) continue;
        choice.calls[place] ??= { id: id ?? '', name: called.name ?? '', arguments: '' };
        choice.calls[place].arguments += called.arguments;
      }
      choice.finishReason = finish_reason ?? choice.finishReason;
    }
  }

  /** Hex SHA-256, as receipts have it. */
  digest(): string {
    const content = Array.from(this.#choices, (choice) => {
      const { content = '', calls = [], finishReason = null } = choice ?? {};
      return {
        // A choice of calls alone has no text; half of a surrogate pair has no canonical form.
        content: content === '' && calls.length > 0 ? null : content.toWellFormed(),
        tool_calls: Array.from(calls, (call) => ({ ...call, arguments: call?.arguments.toWellFormed() ?? '' })),
        finish_reason: finishReason,
      };
    });
    return digestOf(canonicalize(content));
  }
}

/** As receipts have it, of an answer of one choice that called nothing. */
export function answerDigest(text: string, finishReason: string | null): string {
  const said = new ChatContent();
  const finish_reason = finishReason as ChatCompletionChunk['choices'][number]['finish_reason'];
  said.take({ choices: [{ index: 0, delta: { content: text }, finish_reason, logprobs: null }] });
  return said.digest();
}

export function digestOf(text: string): string {
  return encodeHex(sha256(new TextEncoder().encode(text)));
}

/** Throws for what is neither text nor nothing: put together, `{}` would become words that nobody said. */
function textIn(value: unknown): string {
  if (value !== undefined && value !== null && typeof value !== 'string') throw new TypeError('no text');
  return value ?? '';
}

const isPlace = (index: number) => Number.isInteger(index) && index >= 0 && index < MAX_PLACES;
