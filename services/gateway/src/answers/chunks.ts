// The chunks of a streamed answer, made from its deltas.
import { type AnswerHead, type ChatDelta, chatChunk, textChunk } from '@strata/inference';
import type { StreamEvent } from './event-writer.ts';

/** The chunks of `/v1/chat/completions`. Those of a choice's text differ only in the text: the rest is written once. */
export class ChatChunks {
  readonly #head: AnswerHead;
  readonly #hasUsage: boolean;
  /** What is before and after the text, by choice. */
  readonly #around: (readonly [before: string, after: string])[] = [];

  constructor(head: AnswerHead, { hasUsage }: { readonly hasUsage: boolean }) {
    this.#head = head;
    this.#hasUsage = hasUsage;
  }

  of(deltas: readonly ChatDelta[], index: number): readonly StreamEvent[] {
    return deltas.map((delta) => {
      if (delta.kind !== 'text' || delta.logprobs) return this.#chunk(delta, index);
      this.#around[index] ??= this.#aroundText(index);
      const [before, after] = this.#around[index];
      return before + JSON.stringify(delta.text) + after;
    });
  }

  #aroundText(index: number): readonly [string, string] {
    const json = JSON.stringify(this.#chunk({ kind: 'text', text: '' }, index));
    const at = json.indexOf('"delta":{"content":""') + '"delta":{"content":'.length;
    return [json.slice(0, at), json.slice(at + '""'.length)];
  }

  #chunk(delta: ChatDelta, index: number) {
    return chatChunk(this.#head, { index, delta, hasUsage: this.#hasUsage });
  }
}

/** The chunks of `/v1/completions`. */
export class TextChunks {
  readonly #head: AnswerHead;
  /** Of each choice. */
  readonly #lengths: number[] = [];

  constructor(head: AnswerHead) {
    this.#head = head;
  }

  of(deltas: readonly ChatDelta[], index: number): readonly StreamEvent[] {
    return deltas.flatMap((delta) => this.#chunks(delta, index));
  }

  #chunks(delta: ChatDelta, index: number): ReturnType<typeof textChunk>[] {
    const offset = this.#lengths[index] ?? 0;
    if (delta.kind === 'text') {
      const { text, logprobs } = delta;
      this.#lengths[index] = offset + text.length;
      return [textChunk(this.#head, [{ index, text, logprobs, finishReason: null, offset }])];
    }
    if (delta.kind === 'end')
      return [textChunk(this.#head, [{ index, text: '', logprobs: undefined, finishReason: delta.reason }])];
    return [];
  }
}
