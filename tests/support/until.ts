// Waits for a condition, however busy the machine is.
import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves when `isSo` holds. @throws Error with the description of the condition, or else its code, after `limitMs`. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  { what = String(isSo), limitMs = 120_000, intervalMs = 5 } = {},
): Promise<void> {
  for (const deadline = performance.now() + limitMs; !(await isSo()); await sleep(intervalMs))
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
}

/** What `ask` answers, as soon as that is as wanted, true by default. @throws Error with the last answer after five minutes: real time, on a busy machine. */
export async function untilAnswer<T>(
  what: string,
  ask: () => T | Promise<T>,
  isSo: (value: T) => boolean = Boolean,
): Promise<T> {
  let last: T | undefined;
  for (const deadline = performance.now() + 300_000; performance.now() < deadline; await sleep(20)) {
    last = await ask();
    if (isSo(last)) return last;
  }
  throw new Error(`${what}: not within five minutes; last ${JSON.stringify(last)}`);
}

/** Repeats each of these while the work goes on. */
export async function repeatDuring<T>(work: Promise<T>, ...repeated: readonly (() => Promise<unknown>)[]): Promise<T> {
  let isOver = false;
  const loops = repeated.map(async (each) => {
    while (!isOver) await each();
  });
  try {
    return await work;
  } finally {
    isOver = true;
    await Promise.all(loops);
  }
}
