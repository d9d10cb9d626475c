// Which free slot a prompt goes to: the one that has read the most of it already.

export interface Slot {
  /** What its part of the context holds. */
  readonly tokens: readonly number[];
  /** When it was last used; larger is later. */
  readonly usedAt: number;
  /** Jobs that run beside it on the same processor; none by default. */
  readonly load?: number;
  /** What its last job gave as a hint. */
  readonly cacheKey?: string | undefined;
}

/** A shorter beginning is shared by everything (a template's first words): not worth losing another's conversation for. */
const WORTH_TOKENS = 16;
/** Another job beside it costs about as much as reading so many tokens. */
const LOAD_TOKENS = 256;

/**
 * The slot with the longest common prefix, less what the jobs beside it cost; where several have it, or none is worth it,
 * one whose last job had the same `cacheKey`; else the one that was not used for the longest time, so that what others
 * have read stays. Undefined when there is none.
 */
export function chooseSlot<S extends Slot>(
  free: readonly S[],
  prompt: readonly number[],
  cacheKey?: string,
): S | undefined {
  // Half of a short prompt is worth it too.
  const worth = Math.min(WORTH_TOKENS, prompt.length / 2);
  const rated = free.map((slot) => {
    const common = commonPrefix(slot.tokens, prompt);
    const gain = (common >= worth ? common : 0) - (slot.load ?? 0) * LOAD_TOKENS;
    return { slot, worth: gain, isOwn: cacheKey !== undefined && slot.cacheKey === cacheKey };
  });
  rated.sort((a, b) => b.worth - a.worth || Number(b.isOwn) - Number(a.isOwn) || a.slot.usedAt - b.slot.usedAt);
  return rated[0]?.slot;
}

export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const max = Math.min(a.length, b.length);
  let length = 0;
  while (length < max && a[length] === b[length]) length += 1;
  return length;
}
