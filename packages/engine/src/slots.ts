// Slots of a context: taken by jobs, waited for in order, given back with what they have read.
import { chooseSlot, type Slot } from './choose-slot.ts';

interface Waiter {
  readonly prompt: readonly number[];
  readonly resolve: (slot: number) => void;
}

export class Slots {
  readonly #slots: (Slot & { isFree: boolean })[];
  readonly #waiting: Waiter[] = [];
  #clock = 0;

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, () => ({ tokens: [], usedAt: 0, isFree: true }));
  }

  get free(): number {
    return this.#slots.filter(({ isFree }) => isFree).length;
  }

  /** The number of a slot; waits for one. Rejects with the signal's reason when it is aborted before. */
  async take(prompt: readonly number[], signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const slot = this.#waiting.length === 0 ? this.#choose(prompt) : undefined;
    if (slot !== undefined) return slot;
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter: Waiter = { prompt, resolve };
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      reject(signal.reason);
    };
    this.#waiting.push(waiter);
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Gives a slot back; whoever waits longest gets the one that fits best of those free. */
  give(number: number, tokens: readonly number[]): void {
    this.#slots[number] = { tokens, usedAt: ++this.#clock, isFree: true };
    const next = this.#waiting[0];
    const slot = next && this.#choose(next.prompt);
    if (next === undefined || slot === undefined) return;
    this.#waiting.shift();
    next.resolve(slot);
  }

  #choose(prompt: readonly number[]): number | undefined {
    const slot = chooseSlot(
      this.#slots.filter(({ isFree }) => isFree),
      prompt,
    );
    if (slot === undefined) return undefined;
    slot.isFree = false;
    return this.#slots.indexOf(slot);
  }
}
