// A part of an answer, begun by one worker, or by a second one where the first is slow to say anything: who gives first makes it.

import { type SessionEvent, WorkerLostError } from '../session/worker-session.ts';
import type { AnswerPart } from './answer-part.ts';

export interface PartEvent {
  readonly part: AnswerPart;
  readonly event: SessionEvent;
}

export interface HedgeOptions {
  /** When a second worker is asked, while there is no token; undefined: never. */
  readonly afterMs: number | undefined;
  readonly second: () => AnswerPart | undefined;
  /** Hears of each worker that was lost. */
  readonly onLost: (error: WorkerLostError) => void;
}

type Heard = PartEvent | { readonly part: AnswerPart; readonly error: unknown };

/**
 * Events of the part, and whose they are: `begin` of both where two were asked, and all others of one alone. Throws
 * WorkerLostError when the last of them is lost. Whoever stops reading leaves all.
 */
export async function* hedged(first: AnswerPart, options: HedgeOptions): AsyncGenerator<PartEvent, void> {
  const running = new Map<AnswerPart, Promise<Heard>>();
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

/** Gives what comes before the first token or end, and returns that; the others are left. */
async function* untilFirst(
  first: AnswerPart,
  running: Map<AnswerPart, Promise<Heard>>,
  { afterMs, second, onLost }: HedgeOptions,
): AsyncGenerator<PartEvent, PartEvent> {
  const late = Promise.withResolvers<undefined>();
  const timer = afterMs === undefined ? undefined : setTimeout(late.resolve, afterMs, undefined);
  let isLate = false;
  try {
    for (let part: AnswerPart | undefined = first; ; ) {
      if (part) running.set(part, heardOf(part));
      const heard = await Promise.race(isLate ? running.values() : [...running.values(), late.promise]);
      if (!heard) {
        isLate = true;
        part = second();
      } else if ('error' in heard) {
        if (running.size === 1 || !(heard.error instanceof WorkerLostError)) throw heard.error;
        running.delete(heard.part);
        onLost(heard.error);
        part = undefined;
      } else if (heard.event.kind === 'begin') {
        yield heard;
        part = heard.part;
      } else {
        for (const other of running.keys()) if (other !== heard.part) other.leave();
        return heard;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** An error is a value here: it may come while nobody looks. */
const heardOf = (part: AnswerPart): Promise<Heard> =>
  part.next().then(
    (event) => ({ part, event }),
    (error: unknown) => ({ part, error }),
  );
