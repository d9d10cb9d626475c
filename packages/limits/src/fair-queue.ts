// A weighted fair queue: classes are served in proportion to their shares, the keys of a class round-robin or by rank,
// each key in FIFO order.

export interface Queued {
  readonly key: string;
  /** Names its class, and is its weight. Weights 16, 4 and 1 give the classes 16, 4 and 1 of every 21 slots. */
  readonly share: number;
}

type Entries<Item> = { readonly item: Item; readonly arrival: number }[];

interface ShareQueue<Item> {
  readonly share: number;
  /** By key, in round-robin order: a key that was served moves to the end. */
  readonly byKey: Map<string, Entries<Item>>;
  waiting: number;
  /** Virtual time: items served, divided by the share. The lowest is next. */
  served: number;
}

export class FairQueue<Item extends Queued> {
  readonly #queues = new Map<number, ShareQueue<Item>>();
  /** Virtual time of the class that was served last. */
  #served = 0;
  #arrivals = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: Item): void {
    const queue = this.#queueOf(item.share);
    // An empty queue accumulates no credit.
    if (queue.waiting === 0) queue.served = Math.max(queue.served, this.#served);
    const entry = { item, arrival: this.#arrivals };
    this.#arrivals += 1;
    const entries = queue.byKey.get(item.key);
    if (entries) entries.push(entry);
    else queue.byKey.set(item.key, [entry]);
    queue.waiting += 1;
    this.#size += 1;
  }

  /** Removes and returns the next item. `rankOf`: keys of the lowest rank are served first, in order of arrival. */
  next(rankOf?: (key: string) => number): Item | undefined {
    const waiting = [...this.#queues.values()].filter((each) => each.waiting > 0);
    const [queue] = waiting.sort((a, b) => a.served - b.served || b.share - a.share);
    if (!queue) return undefined;
    const [key, entries] = rankOf ? lowest(queue, rankOf) : first(queue);
    const entry = entries.shift();
    queue.byKey.delete(key);
    if (entries.length > 0) queue.byKey.set(key, entries);
    queue.waiting -= 1;
    this.#size -= 1;
    this.#served = queue.served;
    queue.served += 1 / queue.share;
    return entry?.item;
  }

  /** Removes an item; returns whether it was still waiting. */
  leave(item: Item): boolean {
    const queue = this.#queueOf(item.share);
    const entries = queue.byKey.get(item.key);
    const at = entries?.findIndex((entry) => entry.item === item) ?? -1;
    if (!entries || at < 0) return false;
    entries.splice(at, 1);
    if (entries.length === 0) queue.byKey.delete(item.key);
    queue.waiting -= 1;
    this.#size -= 1;
    return true;
  }

  /** Whether a key with this many more items has a shorter queue than the longest one, relative to their shares. */
  isShorter({ key, share }: Queued, more: number): boolean {
    const longest = this.#longest();
    if (!longest) return false;
    const queue = this.#queueOf(share);
    // Each class may always have one item, so that no class is starved.
    if (more === 1 && queue.waiting === 0) return true;
    return ((queue.byKey.get(key)?.length ?? 0) + more) / share < longest.length;
  }

  /** Removes and returns the newest item of the longest queue; never the only item of a class. */
  evict(): Item | undefined {
    const item = this.#longest()?.last;
    if (item) this.leave(item);
    return item;
  }

  #longest(): { readonly length: number; readonly last: Item } | undefined {
    let longest: { length: number; last: Item } | undefined;
    for (const { share, byKey, waiting } of this.#queues.values()) {
      if (waiting < 2) continue;
      for (const entries of byKey.values()) {
        const last = entries.at(-1)?.item;
        const length = entries.length / share;
        if (last && length > (longest?.length ?? 0)) longest = { length, last };
      }
    }
    return longest;
  }

  #queueOf(share: number): ShareQueue<Item> {
    const queue = this.#queues.get(share) ?? { share, byKey: new Map(), waiting: 0, served: 0 };
    this.#queues.set(share, queue);
    return queue;
  }
}

/** Of a queue that is not empty. */
function first<Item>({ byKey }: ShareQueue<Item>): readonly [string, Entries<Item>] {
  const [entry] = byKey;
  return entry as [string, Entries<Item>];
}

function lowest<Item>({ byKey }: ShareQueue<Item>, rankOf: (key: string) => number) {
  const arrivalOf = ([, [entry]]: readonly [string, Entries<Item>]) => entry?.arrival ?? 0;
  return [...byKey].reduce((a, b) => ((rankOf(b[0]) - rankOf(a[0]) || arrivalOf(b) - arrivalOf(a)) < 0 ? b : a));
}
