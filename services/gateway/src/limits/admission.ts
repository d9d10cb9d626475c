// Admission control of a model: limits concurrent answers, and queues the rest fairly between keys and priorities.

import type { Priority, StoredKey } from '@strata/db';
import { CompletionError } from '@strata/inference';
import { FairSlots } from '@strata/limits';

export type Admission = FairSlots;

/** While all three wait, they get 16, 4 and 1 of every 21 slots, so that the lowest gets one too. */
export const SHARES: Readonly<Record<Priority, number>> = { high: 16, normal: 4, low: 1 };

/** `slots`: the maximum number of concurrent answers; `queue`: of waiting ones. Refuses with CompletionError `overloaded`. */
export const openAdmission = (bounds: { readonly slots: number; readonly queue: number }): Admission =>
  new FairSlots({ ...bounds, order: 'round-robin', refusal: overloaded });

export interface SlotUse {
  readonly admission: Admission;
  readonly caller: Pick<StoredKey, 'id' | 'priority'>;
  readonly signal: AbortSignal;
}

/**
 * Runs `count` parts of one request in order, each in a slot, as many concurrently as there are slots. Between two parts
 * a slot goes to a waiting request, except the last slot of this request: work in progress is never refused. If a part
 * fails, the rest are aborted. Rejects with the refusal if the request gets no slot at all.
 */
export async function runInSlots(
  count: number,
  { admission, caller, signal }: SlotUse,
  run: (part: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const share = SHARES[caller.priority];
  if (count === 1) {
    using _slot = await admission.enter(caller.id, signal, share);
    return await run(0, signal);
  }
  const [failing, allBegun] = [new AbortController(), new AbortController()];
  const stop = AbortSignal.any([signal, failing.signal]);
  const waiting = AbortSignal.any([stop, allBegun.signal]);
  let [next, held, lanes] = [0, 0, Math.min(count, admission.slots)];
  const lane = async (): Promise<void> => {
    while (next < count) {
      const entered = await admission.enter(caller.id, waiting, share).catch((error: unknown) => {
        lanes -= 1;
        if (stop.aborted || (lanes === 0 && next < count)) throw error;
        return undefined;
      });
      if (!entered) return;
      using _slot = entered;
      held += 1;
      try {
        while (next < count) {
          const part = next++;
          if (next === count) allBegun.abort();
          await run(part, stop);
          if (held > 1 && admission.waiting > 0) break;
        }
      } finally {
        held -= 1;
      }
    }
  };
  const running = Array.from({ length: lanes }, lane);
  try {
    await Promise.all(running);
  } catch (error) {
    failing.abort(error);
    await Promise.allSettled(running);
    throw error;
  }
}

function overloaded(): CompletionError {
  return new CompletionError('overloaded', 'All slots are in use; try again in a moment.', { retryAfterMs: 1_000 });
}

/** Another process may serve the request in a moment. */
export function stopping(): CompletionError {
  return new CompletionError('overloaded', 'The service is stopping; try again in a moment.', { retryAfterMs: 2_000 });
}
