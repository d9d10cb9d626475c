// Abortable waits.
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';

/** Resolves after `ms`, or immediately when the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
