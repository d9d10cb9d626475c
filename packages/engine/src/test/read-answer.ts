// The deltas of an answer whose chunks are given, without any server.
import type { ChatDelta } from '@strata/inference';
import { type AnswerOptions, answerDeltas, type UpstreamUsage } from '../upstream-answer.ts';
import type { StreamEvent } from '../upstream-events.ts';

export const noUsage = (): UpstreamUsage => ({ promptTokens: 0, completionTokens: 0, cachedTokens: 0 });

/** Reads chunks, texts of events, and errors of the connection. Ids that are made are `made_1` and so on. */
export function answer(chunks: readonly unknown[], options: Partial<AnswerOptions> = {}): Promise<ChatDelta[]> {
  return Array.fromAsync(answerOf(eventsOf(chunks), options));
}

export function answerOf(
  events: AsyncIterator<StreamEvent>,
  options: Partial<AnswerOptions> = {},
): AsyncGenerator<ChatDelta> {
  let ids = 0;
  const newCallId = () => `made_${++ids}`;
  const defaults = { stops: [], topLogprobs: undefined, isCallForced: false, usage: noUsage(), secret: undefined };
  return answerDeltas(events, { ...defaults, newCallId, ...options });
}

export async function* eventsOf(chunks: readonly unknown[]): AsyncGenerator<StreamEvent> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk;
    yield { type: '', data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) };
  }
}
