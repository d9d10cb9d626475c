// The events of a stored answer, made from its entries: the same, with the same numbers, at each gateway.
import { CompletionError, chatCompletion, errorBody, type OutputItem, usageChunk } from '@strata/inference';
import { AnswerAccumulator } from '../answer-accumulator.ts';
import { ChatChunks, TextChunks } from '../chunks.ts';
import type { StreamEvent } from '../event-writer.ts';
import { ResponseEvents } from '../response-events.ts';
import { type AnswerOver, type LogEntry, overIn } from './answer-log.ts';
import type { StoredRequest } from './stored-request.ts';

export interface EntryEvents {
  of(entry: LogEntry): readonly StreamEvent[];
}

/** `onItem` is called for each output item of a response. */
export function storedEvents(request: StoredRequest, onItem: (item: OutputItem) => void): EntryEvents {
  return request.kind === 'response' ? new StoredResponse(request, onItem) : chunkEvents(request);
}

function chunkEvents({ head, kind, asked }: Exclude<StoredRequest, { readonly kind: 'response' }>): EntryEvents {
  const chunks = kind === 'text' ? new TextChunks(head) : new ChatChunks(head, { hasUsage: asked.hasUsageChunk });
  const ended = ({ outcome, usage, error }: AnswerOver): readonly StreamEvent[] => {
    if (outcome !== 'completed') return [errorBody(errorOf(error))];
    const object = kind === 'text' ? 'text_completion' : 'chat.completion.chunk';
    return [...(asked.hasUsageChunk ? [usageChunk(head, usage, object)] : []), '[DONE]'];
  };
  return { of: (entry) => ('over' in entry ? ended(entry.over) : chunks.of(entry.deltas, entry.choice)) };
}

/** The error of an answer that did not complete. */
export const errorOf = (error: AnswerOver['error']): CompletionError =>
  new CompletionError(error?.kind ?? 'engine_failed', error?.message ?? 'The answer was cancelled.', {
    ...(error?.param ? { param: error.param } : {}),
  });

/** The chat completion of an answer that is over. Throws its error if it did not complete. */
export function chatCompletionOf(
  { head, asked }: Extract<StoredRequest, { readonly kind: 'chat' }>,
  entries: readonly LogEntry[],
): object {
  const over = overIn(entries.at(-1));
  if (over?.outcome !== 'completed') throw errorOf(over?.error);
  const accumulated = new AnswerAccumulator(asked.choices, { keepsLogprobs: asked.topLogprobs !== undefined });
  for (const entry of entries)
    if (!('over' in entry)) for (const delta of entry.deltas) accumulated.take(entry.choice, delta);
  return chatCompletion(head, accumulated.choices(), over.usage);
}

/** A response as its events, and as the object that it is so far. */
export class StoredResponse implements EntryEvents {
  readonly #events: ResponseEvents;
  #reason: 'stop' | 'length' = 'stop';
  #last: object | undefined;

  constructor(
    { head, asked }: Extract<StoredRequest, { readonly kind: 'response' }>,
    onItem: (item: OutputItem) => void,
  ) {
    this.#events = new ResponseEvents(head, asked, onItem);
  }

  of(entry: LogEntry): readonly StreamEvent[] {
    if ('over' in entry) {
      const events = this.#endOf(entry.over);
      this.#last = events.at(-1)?.response as object;
      return events;
    }
    const end = entry.deltas.at(-1);
    if (end?.kind === 'end') this.#reason = end.reason === 'length' ? 'length' : 'stop';
    return entry.deltas.flatMap((delta) => this.#events.take(delta));
  }

  get response(): object {
    return this.#last ?? this.#events.response;
  }

  #endOf({ outcome, usage, error }: AnswerOver) {
    if (outcome === 'completed') return [this.#events.end(this.#reason, usage)];
    if (outcome === 'cancelled') return this.#events.cancel(usage);
    const { code, message } = errorBody(errorOf(error)).error;
    return [this.#events.fail(code, message)];
  }
}
