// Simulated time: what is to happen, soonest first (a binary heap); what is at the same time happens in the order in which it was told.

interface Planned {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void;
}

export class EventQueue {
  readonly #heap: Planned[] = [];
  #nowMs = 0;
  #told = 0;

  get nowMs(): number {
    return this.#nowMs;
  }

  at(atMs: number, happen: () => void): void {
    const heap = this.#heap;
    const planned = { atMs, order: this.#told++, happen };
    let i = heap.length;
    while (i > 0) {
      const parent = (i - 1) >>> 1;
      const above = heap[parent] as Planned;
      if (isBefore(above, planned)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = planned;
  }

  runUntil(endMs: number): void {
    for (let next = this.#heap[0]; next && next.atMs <= endMs; next = this.#heap[0]) {
      this.#removeFirst();
      this.#nowMs = next.atMs;
      next.happen();
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (!last || heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Planned, heap[child] as Planned)) child += 1;
      const below = heap[child] as Planned;
      if (isBefore(last, below)) break;
      heap[i] = below;
      i = child;
    }
    heap[i] = last;
  }
}

const isBefore = (a: Planned, b: Planned): boolean => (a.atMs === b.atMs ? a.order < b.order : a.atMs < b.atMs);
