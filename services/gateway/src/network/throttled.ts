// Work that many things ask for, done no more often than is good.

/** Asks for the work: it is done in a moment, and again no sooner than `everyMs` after; what is asked for meanwhile is done once. */
export function pacedBy(everyMs: number, work: () => void): () => void {
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
