// Who waits, in which order: priorities take turns by their shares, keys of a priority in equal turns, each key in its own order.
import type { CompletionError } from '@strata/inference';
import type { Priority } from '@strata/store';

export interface Waiter {
  readonly key: string;
  readonly priority: Priority;
  readonly enter: () => void;
  readonly refuse: (error: CompletionError) => void;
}

/** Of 21 places that come free while all three wait: also the lowest gets one. */
const SHARES: Readonly<Record<Priority, number>> = { high: 16, normal: 4, low: 1 };

interface Lines {
  readonly priority: Priority;
  /** By key, in the order of their turns: whoever was served goes to the end. */
  readonly byKey: Map<string, Waiter[]>;
  waiting: number;
  /** Places given, divided by the share: the least is next. */
  served: number;
}

const linesOf = (priority: Priority): Lines => ({ priority, byKey: new Map(), waiting: 0, served: 0 });

export class FairQueue {
  readonly #lines: Readonly<Record<Priority, Lines>> = {
    high: linesOf('high'),
    normal: linesOf('normal'),
    low: linesOf('low'),
  };
  /** Of the priority that was served last. */
  #served = 0;

  get size(): number {
    return this.#all().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  push(waiter: Waiter): void {
    const lines = this.#lines[waiter.priority];
    // While nobody of it waited it saved nothing up.
    if (lines.waiting === 0) lines.served = Math.max(lines.served, this.#served);
    const line = lines.byKey.get(waiter.key);
    if (line) line.push(waiter);
    else lines.byKey.set(waiter.key, [waiter]);
    lines.waiting += 1;
  }

  /** Takes out whose turn it is. */
  next(): Waiter | undefined {
    const waiting = this.#all().filter((lines) => lines.waiting > 0);
    const [lines] = waiting.sort((a, b) => a.served - b.served);
    const [next] = lines?.byKey ?? [];
    if (!lines || !next) return undefined;
    const [key, line] = next;
    const waiter = line.shift();
    lines.byKey.delete(key);
    if (line.length > 0) lines.byKey.set(key, line);
    lines.waiting -= 1;
    this.#served = lines.served;
    lines.served += 1 / SHARES[lines.priority];
    return waiter;
  }

  /** Whether it was still waiting. */
  leave(waiter: Waiter): boolean {
    const lines = this.#lines[waiter.priority];
    const line = lines.byKey.get(waiter.key);
    const at = line?.indexOf(waiter) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) lines.byKey.delete(waiter.key);
    lines.waiting -= 1;
    return true;
  }

  /** Whether so many more of a key come before the last of the longest line, lines measured by the share of their priority. */
  isShorter({ key, priority }: Pick<Waiter, 'key' | 'priority'>, more: number): boolean {
    const longest = this.longest();
    if (!longest) return false;
    const lines = this.#lines[priority];
    // One of each priority may always wait, so that none is shut out by the others.
    if (more === 1 && lines.waiting === 0) return true;
    const length = (lines.byKey.get(key)?.length ?? 0) + more;
    return length / SHARES[priority] < longest.length / SHARES[longest.last.priority];
  }

  /** The longest line that may lose its last: never the only one of its priority. */
  longest(): { readonly length: number; readonly last: Waiter } | undefined {
    let longest: { length: number; last: Waiter } | undefined;
    let max = 0;
    for (const { priority, byKey, waiting } of this.#all()) {
      if (waiting < 2) continue;
      for (const line of byKey.values()) {
        const last = line.at(-1);
        if (!last || line.length / SHARES[priority] <= max) continue;
        max = line.length / SHARES[priority];
        longest = { length: line.length, last };
      }
    }
    return longest;
  }

  #all(): Lines[] {
    return [this.#lines.high, this.#lines.normal, this.#lines.low];
  }
}
