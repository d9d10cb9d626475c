// Chooses the free slot for a prompt: the one that shares the longest prefix with it.

export interface Slot {
  /** Tokens in the slot's part of the context. */
  readonly tokens: readonly number[];
  /** When it was last used; larger is later. */
  readonly usedAt: number;
  /** Jobs running on the same processor; none by default. */
  readonly load?: number;
  /** `cacheKey` of its last job. */
  readonly cacheKey?: string | undefined;
}

/** Shorter common prefixes (the start of a template) occur in every conversation: not worth evicting another one. */
const WORTH_TOKENS = 16;
/** A concurrent job on the same processor costs about as much as reading this many tokens. */
const LOAD_TOKENS = 256;

/**
 * The slot with the longest common prefix, minus the cost of concurrent jobs; on a tie, or without a useful prefix,
 * a slot whose last job had the same `cacheKey`; otherwise the least recently used slot, so that other conversations
 * stay cached. Undefined when no slot is free.
 */
export function chooseSlot<S extends Slot>(
  free: readonly S[],
  prompt: readonly number[],
  cacheKey?: string,
): S | undefined {
  // For a short prompt, half of it is enough.
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
