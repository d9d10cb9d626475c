// Accumulates the deltas of an answer by choice, and the segments of the workers, for the answer and its receipt.
import type { JobSegment } from '@strata/engine';
import {
  type ChatChoice,
  type ChatDelta,
  type ChoiceContent,
  type ChosenLogprob,
  CompletionError,
  contentOfChoice,
  type FinishReason,
  type ToolCall,
} from '@strata/inference';

interface AccumulatedChoice {
  content: string;
  reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly logprobs: ChosenLogprob[];
  finishReason: FinishReason | null;
}

/** Token positions in the choice: from `from` up to, not including, `to`. */
export interface AnswerSegment extends JobSegment {
  readonly choice: number;
}

/** Maximum number of segments in a receipt. A choice has one segment unless workers fail. */
export const MAX_SEGMENTS = 1_000;

/** Maximum number of log-probabilities of an answer that is not streamed: 400 MB, and 170 MB of JSON. */
export const MAX_LOGPROBS = 2 ** 21;

export class AnswerAccumulator {
  readonly #choices: readonly AccumulatedChoice[];
  readonly #keepsLogprobs: boolean;
  readonly #segments: AnswerSegment[] = [];
  #logprobs = 0;

  /** `keepsLogprobs`: false for streams, which send them immediately; receipts have none. */
  constructor(choices: number, { keepsLogprobs }: { readonly keepsLogprobs: boolean }) {
    this.#keepsLogprobs = keepsLogprobs;
    this.#choices = Array.from({ length: choices }, () => ({
      content: '',
      reasoning: '',
      calls: [],
      logprobs: [],
      finishReason: null,
    }));
  }

  /** Throws CompletionError for more log-probabilities than can be kept. */
  take(index: number, delta: ChatDelta): void {
    const choice = this.#choices[index];
    if (!choice) throw new RangeError(`there is no choice ${index}`);
    switch (delta.kind) {
      case 'begin':
        break;
      case 'text':
        choice.content += delta.text;
        if (this.#keepsLogprobs) for (const each of delta.logprobs ?? []) this.#keep(choice, each);
        break;
      case 'reasoning':
        choice.reasoning += delta.text;
        break;
      case 'call':
        choice.calls[delta.at] = { id: delta.id, name: delta.name, arguments: '' };
        break;
      case 'arguments': {
        const call = choice.calls[delta.at];
        if (call) call.arguments += delta.text;
        break;
      }
      case 'end':
        choice.finishReason = delta.reason;
        break;
      default:
        delta satisfies never;
    }
  }

  #keep({ logprobs }: AccumulatedChoice, chosen: ChosenLogprob): void {
    logprobs.push(chosen);
    this.#logprobs += 1 + chosen.top_logprobs.length;
    if (this.#logprobs <= MAX_LOGPROBS) return;
    const message = `The answer has more than ${MAX_LOGPROBS} log-probabilities: stream it, or ask for fewer.`;
    throw new CompletionError('unsupported_value', message, { param: 'logprobs' });
  }

  /** Adds what a worker of the network generated for a choice. */
  takeSegment(choice: number, segment: JobSegment): void {
    if (this.#segments.length < MAX_SEGMENTS) this.#segments.push({ choice, ...segment });
  }

  /** The segments so far, by choice, each choice in order. */
  get segments(): readonly AnswerSegment[] {
    return this.#segments.toSorted((a, b) => a.choice - b.choice);
  }

  get finishReasons(): readonly (FinishReason | null)[] {
    return this.#choices.map(({ finishReason }) => finishReason);
  }

  /** The choices of an answer that has ended. */
  choices(): readonly ChatChoice[] {
    return this.#choices.map(({ content, reasoning, calls, logprobs, finishReason }) => ({
      content: contentOf(content, calls),
      reasoning,
      toolCalls: calls,
      logprobs: this.#keepsLogprobs ? logprobs : undefined,
      finishReason: finishReason ?? 'stop',
    }));
  }

  content(): readonly ChoiceContent[] {
    return this.#choices.map(({ content, reasoning, calls, finishReason }) =>
      contentOfChoice({ content: contentOf(content, calls), reasoning, toolCalls: calls, finishReason }),
    );
  }
}

/** Null if there are calls and no text. */
const contentOf = (content: string, calls: readonly ToolCall[]): string | null =>
  content === '' && calls.length > 0 ? null : content;
