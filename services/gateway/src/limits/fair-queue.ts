// A weighted fair queue: priorities are served in proportion to their shares, the keys of a priority round-robin, each
// key in FIFO order.

import type { Priority } from '@strata/db';
import type { CompletionError } from '@strata/inference';

export interface Waiter {
  readonly key: string;
  readonly priority: Priority;
  readonly enter: () => void;
  readonly refuse: (error: CompletionError) => void;
}

/** Of 21 slots that become free while all three priorities wait, so that the lowest gets one too. */
const SHARES: Readonly<Record<Priority, number>> = { high: 16, normal: 4, low: 1 };

interface PriorityQueue {
  readonly priority: Priority;
  /** By key, in round-robin order: a key that was served moves to the end. */
  readonly byKey: Map<string, Waiter[]>;
  waiting: number;
  /** Virtual time: slots assigned, divided by the share. The lowest is next. */
  served: number;
}

const queueOf = (priority: Priority): PriorityQueue => ({ priority, byKey: new Map(), waiting: 0, served: 0 });

export class FairQueue {
  readonly #queues: Readonly<Record<Priority, PriorityQueue>> = {
    high: queueOf('high'),
    normal: queueOf('normal'),
    low: queueOf('low'),
  };
  /** Virtual time of the priority that was served last. */
  #served = 0;

  get size(): number {
    return this.#all().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  push(waiter: Waiter): void {
    const queue = this.#queues[waiter.priority];
    // An empty queue accumulates no credit.
    if (queue.waiting === 0) queue.served = Math.max(queue.served, this.#served);
    const waiters = queue.byKey.get(waiter.key);
    if (waiters) waiters.push(waiter);
    else queue.byKey.set(waiter.key, [waiter]);
    queue.waiting += 1;
  }

  /** Removes and returns the next waiter. */
  next(): Waiter | undefined {
    const waiting = this.#all().filter((queue) => queue.waiting > 0);
    const [queue] = waiting.sort((a, b) => a.served - b.served);
    const [next] = queue?.byKey ?? [];
    if (!queue || !next) return undefined;
    const [key, waiters] = next;
    const waiter = waiters.shift();
    queue.byKey.delete(key);
    if (waiters.length > 0) queue.byKey.set(key, waiters);
    queue.waiting -= 1;
    this.#served = queue.served;
    queue.served += 1 / SHARES[queue.priority];
    return waiter;
  }

  /** Removes a waiter; returns whether it was still waiting. */
  leave(waiter: Waiter): boolean {
    const queue = this.#queues[waiter.priority];
    const waiters = queue.byKey.get(waiter.key);
    const at = waiters?.indexOf(waiter) ?? -1;
    if (!waiters || at < 0) return false;
    waiters.splice(at, 1);
    if (waiters.length === 0) queue.byKey.delete(waiter.key);
    queue.waiting -= 1;
    return true;
  }

  /**
   * Whether a key with this many more waiters has a shorter queue than the longest one; lengths are divided by the
   * priority's share.
   */
  isShorter({ key, priority }: Pick<Waiter, 'key' | 'priority'>, more: number): boolean {
    const longest = this.longest();
    if (!longest) return false;
    const queue = this.#queues[priority];
    // Each priority may always have one waiter, so that no priority is starved.
    if (more === 1 && queue.waiting === 0) return true;
    const length = (queue.byKey.get(key)?.length ?? 0) + more;
    return length / SHARES[priority] < longest.length / SHARES[longest.last.priority];
  }

  /** The longest queue that can lose its last waiter; never the only waiter of a priority. */
  longest(): { readonly length: number; readonly last: Waiter } | undefined {
    let longest: { length: number; last: Waiter } | undefined;
    let max = 0;
    for (const { priority, byKey, waiting } of this.#all()) {
      if (waiting < 2) continue;
      for (const waiters of byKey.values()) {
        const last = waiters.at(-1);
        if (!last || waiters.length / SHARES[priority] <= max) continue;
        max = waiters.length / SHARES[priority];
        longest = { length: waiters.length, last };
      }
    }
    return longest;
  }

  #all(): PriorityQueue[] {
    return [this.#queues.high, this.#queues.normal, this.#queues.low];
  }
}
