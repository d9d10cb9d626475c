// Limits that are fixed now and were settings: an update must not raise what an operator had lowered.

/** A limit that was a setting: a lower integer, from `min`, keeps its effect. Other values are ignored. */
export function loweredLimit(limit: number, former: string | undefined, min = 1): number {
  const value = former?.trim() ? Number(former) : limit;
  return Number.isInteger(value) && value >= min ? Math.min(value, limit) : limit;
}
