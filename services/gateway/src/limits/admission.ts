// Admission control of a model: limits concurrent answers, and queues the rest fairly between keys and priorities.

import type { Priority } from '@strata/db';
import { CompletionError } from '@strata/inference';
import { FairSlots } from '@strata/limits';

export type Admission = FairSlots;

/** While all three wait, they get 16, 4 and 1 of every 21 slots, so that the lowest gets one too. */
export const SHARES: Readonly<Record<Priority, number>> = { high: 16, normal: 4, low: 1 };

/** `slots`: the maximum number of concurrent answers; `queue`: of waiting ones. Refuses with CompletionError `overloaded`. */
export const openAdmission = (bounds: { readonly slots: number; readonly queue: number }): Admission =>
  new FairSlots({ ...bounds, order: 'round-robin', refusal: overloaded });

function overloaded(): CompletionError {
  return new CompletionError('overloaded', 'All slots are in use; try again in a moment.', { retryAfterMs: 1_000 });
}

/** Another process may serve the request in a moment. */
export function stopping(): CompletionError {
  return new CompletionError('overloaded', 'The service is stopping; try again in a moment.', { retryAfterMs: 2_000 });
}
