// A clock whose days are short: it runs as others do and leaps a quarter of a day ahead, again and again. Leases of scans and times of
// requests, which are told in seconds, so mean what they mean elsewhere, and everything that is due by the day comes quickly.

const DAY_MS = 86_400_000;
/** What is seen for the second time in a later leap is confirmed: six hours are asked by default. */
const LEAPS_A_DAY = 4;

export interface ShortDays {
  /** Milliseconds since the epoch: of the first moment by this clock, and when that was by the real one. */
  readonly from: number;
  readonly begunAt: number;
  /** How long a day takes. */
  readonly dayMs: number;
}

/** The same in every process that has the same options. */
export function shortDays({ from, begunAt, dayMs }: ShortDays): () => Date {
  const leapMs = dayMs / LEAPS_A_DAY;
  return () => {
    const elapsed = Date.now() - begunAt;
    return new Date(from + Math.floor(elapsed / leapMs) * (DAY_MS / LEAPS_A_DAY) + (elapsed % leapMs));
  };
}
