// The request and answer of one chat, as digests: a receipt holds the same two, and no text.
import { canonicalize, encodeHex, parseSalt, saltedDigest, sha256 } from '@strata/receipts';
import type { ChatCompletionChunk, Receipt } from './gateway-types.ts';

/** Names one answer: keep it with the answer, to verify that the receipt is of these very words. */
export interface ChatRecord {
  /** From `x-receipt-id`. */
  readonly receiptId: string;
  /** From `x-receipt-salt`: the digests are HMACs with it as the key. None where the service gave none: they are plain SHA-256. */
  readonly salt?: string | null;
  /** Of the request's body as it was sent. */
  readonly requestSha256: string;
  /** Of the RFC 8785 text of what was said, as docs/inference.md describes. */
  readonly answerSha256: string;
}

interface ChoiceContent {
  content: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
}

/** The most that a request may ask for is far below: no server makes the list long. */
const MAX_INDEX = 1_000;

/** Puts the chunks of a stream together, choice by choice. */
export class ChatContent {
  readonly #choices: (ChoiceContent | undefined)[] = [];

  take({ choices }: Pick<ChatCompletionChunk, 'choices'>): void {
    for (const { index, delta, finish_reason } of choices) {
      if (!isIndex(index)) continue;
      this.#choices[index] ??= { content: '', calls: [], finishReason: null };
      const choice = this.#choices[index];
      choice.content += textIn(delta?.content);
      for (const { index: place, id, function: called } of delta?.tool_calls ?? []) {
        if (!isIndex(place)) continue;
        choice.calls[place] ??= { id: id ?? '', name: called.name ?? '', arguments: '' };
        choice.calls[place].arguments += called.arguments;
      }
      choice.finishReason = finish_reason ?? choice.finishReason;
    }
  }

  /** Hex, as receipts have it. */
  digest(salt: string | null): string {
    const content = Array.from(this.#choices, (choice) => {
      const { content = '', calls = [], finishReason = null } = choice ?? {};
      return {
        // A choice of calls alone has no text; half of a surrogate pair has no canonical form.
        content: content === '' && calls.length > 0 ? null : content.toWellFormed(),
        tool_calls: Array.from(calls, (call) => ({ ...call, arguments: call?.arguments.toWellFormed() ?? '' })),
        finish_reason: finishReason,
      };
    });
    return digestOf(canonicalize(content), salt);
  }
}

/** As receipts have it, of an answer of one choice that called nothing. */
export function answerDigest(text: string, finishReason: string | null, salt: string | null = null): string {
  const said = new ChatContent();
  const finish_reason = finishReason as ChatCompletionChunk['choices'][number]['finish_reason'];
  said.take({ choices: [{ index: 0, delta: { content: text }, finish_reason, logprobs: null }] });
  return said.digest(salt);
}

/** Of an unusable salt the digest equals none. */
export function digestOf(text: string, salt: string | null): string {
  const bytes = new TextEncoder().encode(text);
  if (salt === null) return encodeHex(sha256(bytes));
  const key = parseSalt(salt);
  return key ? saltedDigest(key, bytes) : '';
}

/** The digests of a receipt that those of a record with this salt are compared with. */
export function digestsIn(receipt: Receipt, salt: string | null) {
  return salt === null
    ? { request: receipt.request_sha256, answer: receipt.answer_sha256 }
    : { request: receipt.request_hmac_sha256, answer: receipt.answer_hmac_sha256 };
}

/** Throws for what is neither text nor nothing: put together, `{}` would become text that the model did not emit. */
function textIn(value: unknown): string {
  if (value !== undefined && value !== null && typeof value !== 'string') throw new TypeError('no text');
  return value ?? '';
}

const isIndex = (index: number) => Number.isInteger(index) && index >= 0 && index < MAX_INDEX;
