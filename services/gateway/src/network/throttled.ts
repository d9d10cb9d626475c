// Throttling: runs frequently requested work at a limited rate.

/**
 * Schedules the work: it runs soon, at least `everyMs` after the previous run; requests in the interim are combined.
 */
export function throttled(everyMs: number, work: () => void): () => void {
  let isDue = false;
  let doneAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(
      () => {
        isDue = false;
        work();
        doneAtMs = performance.now();
      },
      Math.max(0, doneAtMs + everyMs - performance.now()),
    ).unref();
  };
}
