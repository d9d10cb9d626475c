// Digests of the request and answer of a chat. A receipt contains the same two digests, and no text.
import { canonicalize, encodeHex, parseSalt, saltedDigest, sha256 } from '@strata/receipts';
import type { ChatCompletionChunk, Receipt } from './gateway-types.ts';

/** Identifies an answer. Store it with the answer to verify later that the receipt is of this text. */
export interface ChatRecord {
  /** From `x-receipt-id`. */
  readonly receiptId: string;
  /** From `x-receipt-salt`, the key of the HMAC digests. Without it, the digests are plain SHA-256. */
  readonly salt?: string | null;
  /** Digest of the request body as it was sent. */
  readonly requestSha256: string;
  /** Digest of the RFC 8785 text of the answer, as docs/inference.md describes. */
  readonly answerSha256: string;
}

interface ChoiceContent {
  content: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  finishReason: string | null;
}

/** Far above the maximum of a request; bounds the list against a hostile server. */
const MAX_INDEX = 1_000;

/** Assembles the chunks of a stream by choice. */
export class ChatContent {
  readonly #choices: (ChoiceContent | undefined)[] = [];

  take({ choices }: Pick<ChatCompletionChunk, 'choices'>): void {
    for (const { index, delta, finish_reason } of choices) {
      if (!isIndex(index)) continue;
      this.#choices[index] ??= { content: '', calls: [], finishReason: null };
      const choice = this.#choices[index];
      choice.content += textIn(delta?.content);
      for (const { index: position, id, function: called } of delta?.tool_calls ?? []) {
        if (!isIndex(position)) continue;
        choice.calls[position] ??= { id: id ?? '', name: called.name ?? '', arguments: '' };
        choice.calls[position].arguments += called.arguments;
      }
      choice.finishReason = finish_reason ?? choice.finishReason;
    }
  }

  /** Hex, in the format of receipts. */
  digest(salt: string | null): string {
    const content = Array.from(this.#choices, (choice) => {
      const { content = '', calls = [], finishReason = null } = choice ?? {};
      return {
        // A choice with only tool calls has no text. A lone surrogate has no canonical form.
        content: content === '' && calls.length > 0 ? null : content.toWellFormed(),
        tool_calls: Array.from(calls, (call) => ({ ...call, arguments: call?.arguments.toWellFormed() ?? '' })),
        finish_reason: finishReason,
      };
    });
    return digestOf(canonicalize(content), salt);
  }
}

/** The digest of an answer with one choice and no tool calls. */
export function answerDigest(text: string, finishReason: string | null, salt: string | null = null): string {
  const content = new ChatContent();
  const finish_reason = finishReason as ChatCompletionChunk['choices'][number]['finish_reason'];
  content.take({ choices: [{ index: 0, delta: { content: text }, finish_reason, logprobs: null }] });
  return content.digest(salt);
}

/** Empty for an invalid salt, so that it equals no digest. */
export function digestOf(text: string, salt: string | null): string {
  const bytes = new TextEncoder().encode(text);
  if (salt === null) return encodeHex(sha256(bytes));
  const key = parseSalt(salt);
  return key ? saltedDigest(key, bytes) : '';
}

/** The digests of a receipt to compare with a record that has this salt. */
export function digestsIn(receipt: Receipt, salt: string | null) {
  return salt === null
    ? { request: receipt.request_sha256, answer: receipt.answer_sha256 }
    : { request: receipt.request_hmac_sha256, answer: receipt.answer_hmac_sha256 };
}

/** Throws for a value that is neither text nor null: concatenated, `{}` would become text that the model did not generate. */
function textIn(value: unknown): string {
  if (value !== undefined && value !== null && typeof value !== 'string') throw new TypeError('not text');
  return value ?? '';
}

const isIndex = (index: number) => Number.isInteger(index) && index >= 0 && index < MAX_INDEX;
