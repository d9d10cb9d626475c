// Which free slot a prompt goes to: the one that has read the most of it already.

export interface Slot {
  /** What its part of the context holds. */
  readonly tokens: readonly number[];
  /** When it was last used; larger is later. */
  readonly usedAt: number;
}

/** A shorter beginning is shared by everything (a template's first words): not worth losing another's conversation for. */
const WORTH_TOKENS = 16;

/**
 * The slot with the longest common prefix; where none is worth it, the one that was not used for the longest time, so that
 * what others have read stays. Undefined when there is none.
 */
export function chooseSlot<S extends Slot>(free: readonly S[], prompt: readonly number[]): S | undefined {
  // Half of a short prompt is worth it too.
  const worth = Math.min(WORTH_TOKENS, prompt.length / 2);
  let best: { readonly slot: S; readonly common: number } | undefined;
  for (const slot of free) {
    const common = commonPrefix(slot.tokens, prompt);
    const isBetter =
      best === undefined ||
      (Math.max(common, best.common) >= worth && common !== best.common
        ? common > best.common
        : slot.usedAt < best.slot.usedAt);
    if (isBetter) best = { slot, common };
  }
  return best?.slot;
}

export function commonPrefix(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  let length = 0;
  while (length < most && a[length] === b[length]) length += 1;
  return length;
}
