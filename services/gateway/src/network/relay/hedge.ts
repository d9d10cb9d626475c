// Hedged requests: a second worker is asked if the first one is slow to start, and the one with the first token
// generates the part.

import { type SessionEvent, WorkerLostError } from '../session/worker-session.ts';
import type { AnswerPart } from './answer-part.ts';

export interface PartEvent {
  readonly part: AnswerPart;
  readonly event: SessionEvent;
}

export interface HedgeOptions {
  /** Delay before a second worker is asked, if there is no token; undefined: never. */
  readonly afterMs: number | undefined;
  readonly second: () => AnswerPart | undefined;
  /** Called for each lost worker. */
  readonly onLost: (error: WorkerLostError) => void;
}

type PartResult = PartEvent | { readonly part: AnswerPart; readonly error: unknown };

/**
 * The events of the part and their source: `begin` of both workers if two were asked, all further events from one of
 * them. Throws WorkerLostError when the last worker is lost. All workers are cancelled when the consumer stops reading.
 */
export async function* hedged(first: AnswerPart, options: HedgeOptions): AsyncGenerator<PartEvent, void> {
  const running = new Map<AnswerPart, Promise<PartResult>>();
  try {
    const winner = yield* untilFirst(first, running, options);
    if (winner.event.kind === 'end') return yield winner;
    yield winner;
    for (;;) {
      const event = await winner.part.next();
      yield { part: winner.part, event };
      if (event.kind === 'end') return;
    }
  } catch (error) {
    if (error instanceof WorkerLostError) options.onLost(error);
    throw error;
  } finally {
    for (const part of running.keys()) part.leave();
  }
}

/** Yields the events before the first token or end, and returns that; the remaining workers are cancelled. */
async function* untilFirst(
  first: AnswerPart,
  running: Map<AnswerPart, Promise<PartResult>>,
  { afterMs, second, onLost }: HedgeOptions,
): AsyncGenerator<PartEvent, PartEvent> {
  const late = Promise.withResolvers<undefined>();
  const timer = afterMs === undefined ? undefined : setTimeout(late.resolve, afterMs, undefined);
  let isLate = false;
  try {
    for (let part: AnswerPart | undefined = first; ; ) {
      if (part) running.set(part, resultOf(part));
      const result = await Promise.race(isLate ? running.values() : [...running.values(), late.promise]);
      if (!result) {
        isLate = true;
        part = second();
      } else if ('error' in result) {
        if (running.size === 1 || !(result.error instanceof WorkerLostError)) throw result.error;
        running.delete(result.part);
        onLost(result.error);
        part = undefined;
      } else if (result.event.kind === 'begin') {
        yield result;
        part = result.part;
      } else {
        for (const other of running.keys()) if (other !== result.part) other.leave();
        return result;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Errors are values here, because they can occur while the promise is not awaited. */
const resultOf = (part: AnswerPart): Promise<PartResult> =>
  part.next().then(
    (event) => ({ part, event }),
    (error: unknown) => ({ part, error }),
  );
