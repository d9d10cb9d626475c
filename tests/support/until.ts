// Waits for a condition, however busy the machine is.
import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** The condition in words; its code by default. */
  readonly what?: string;
  readonly limitMs?: number;
  readonly intervalMs?: number;
}

/** Resolves when `isSo` holds. @throws Error after `limitMs`, 30 s by default. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  { what = String(isSo), limitMs = 30_000, intervalMs = 5 }: UntilOptions = {},
): Promise<void> {
  for (const deadline = performance.now() + limitMs; !(await isSo()); await sleep(intervalMs)) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
  }
}
