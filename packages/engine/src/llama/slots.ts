// The slots of a context: acquired by jobs in order of arrival, and released with the tokens they hold.
import { chooseSlot, type Slot } from './choose-slot.ts';

interface Wanted {
  readonly prompt: readonly number[];
  readonly cacheKey: string | undefined;
}

interface Waiter extends Wanted {
  readonly resolve: (slot: number) => void;
}

export class Slots {
  readonly #slots: (Slot & { readonly isFree: boolean })[];
  readonly #waiting: Waiter[] = [];
  #clock = 0;

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, () => ({ tokens: [], usedAt: 0, isFree: true }));
  }

  /**
   * Returns the number of a slot, waiting if necessary. Rejects with the signal's reason when aborted while waiting.
   */
  async take(
    prompt: readonly number[],
    { signal, cacheKey }: { readonly signal: AbortSignal; readonly cacheKey?: string | undefined },
  ): Promise<number> {
    signal.throwIfAborted();
    const slot = this.#waiting.length === 0 ? this.#choose({ prompt, cacheKey }) : undefined;
    if (slot !== undefined) return slot;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter: Waiter = { prompt, cacheKey, resolve };
    const leave = () => {
      const at = this.#waiting.indexOf(waiter);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal.reason);
    };
    this.#waiting.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /**
   * Releases a slot; the longest waiter gets the best match among the free slots. A slot that `isSpent` will probably
   * not be continued: it is reused first.
   */
  give(number: number, tokens: readonly number[], { isSpent = false } = {}): void {
    const usedAt = isSpent ? 0 : ++this.#clock;
    this.#slots[number] = { tokens, usedAt, isFree: true, cacheKey: this.#slots[number]?.cacheKey };
    const next = this.#waiting[0];
    const slot = next && this.#choose(next);
    if (next === undefined || slot === undefined) return;
    this.#waiting.shift();
    next.resolve(slot);
  }

  #choose({ prompt, cacheKey }: Wanted): number | undefined {
    const slot = chooseSlot(
      this.#slots.filter(({ isFree }) => isFree),
      prompt,
      cacheKey,
    );
    if (slot === undefined) return undefined;
    const number = this.#slots.indexOf(slot);
    this.#slots[number] = { ...slot, isFree: false, cacheKey };
    return number;
  }
}
