// What a load costs the other models of a worker: those that it closes must be loaded again at their next request.

export interface LoadedModel {
  readonly memoryBytes: number;
  /** The time in which it would be loaded again. */
  readonly loadMs: number;
  /** Since its last request here. */
  readonly idleMs: number;
}

/** Recent use predicts use: closing a model that was just used counts as this many of its loads. */
const RECENT_WEIGHT = 4;
/** The time after which the weight is half. */
const RECENT_MS = 60_000;

/**
 * The expected time that later requests lose if a model of `neededBytes` is loaded into `freeBytes`. 0: nothing is closed.
 * Workers close the least recently used models first. Infinite: it does not fit.
 */
export function evictionMs(neededBytes: number, freeBytes: number, loaded: readonly LoadedModel[]): number {
  let [missing, lostMs] = [neededBytes - freeBytes, 0];
  for (const { memoryBytes, loadMs, idleMs } of loaded.toSorted((a, b) => b.idleMs - a.idleMs)) {
    if (missing <= 0) break;
    missing -= memoryBytes;
    lostMs += loadMs * RECENT_WEIGHT * (RECENT_MS / (RECENT_MS + idleMs));
  }
  return missing > 0 ? Number.POSITIVE_INFINITY : lostMs;
}
