// Who gets the next free place: keys take turns, so that one caller with many requests does not make the others wait for all of them.
import { CompletionError } from '@strata/inference';

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: CompletionError) => void;
}

export interface AdmissionOptions {
  /** Answers made at once. */
  readonly places: number;
  /** Answers that may wait besides. When it is full, the longest line gives way to a shorter one. */
  readonly queue: number;
}

export class Admission {
  readonly #queue: number;
  #places: number;
  #inside = 0;
  #isClosed = false;
  #waiting = 0;
  /** By key, in the order of their turns: whoever was served goes to the end. */
  readonly #lines = new Map<string, Waiter[]>();

  constructor({ places, queue }: AdmissionOptions) {
    this.#places = places;
    this.#queue = queue;
  }

  get places(): number {
    return this.#places;
  }

  /** Of fewer places than answers are being made, none is taken away: they come free one by one. */
  resize(places: number): void {
    this.#places = places;
    while (this.#waiting > 0 && this.#inside < places) this.#admit();
  }

  /** Answers being made or waiting. */
  get size(): number {
    return this.#inside + this.#waiting;
  }

  /** Throws CompletionError `overloaded` where so many more answers of a key could not even wait. */
  check(key: string, answers: number): void {
    if (this.#isClosed) throw stopping();
    if (this.size + answers <= this.places + this.#queue) return;
    if (this.#lengthOf(key) + answers < (this.#longest()?.[1].length ?? 0)) return;
    throw overloaded();
  }

  /** A place until disposed, in turn with other keys. Throws CompletionError `overloaded`, or the signal's reason. */
  async enter(key: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#isClosed) throw stopping();
    if (this.#inside < this.places && this.#waiting === 0) return this.#place();
    this.check(key, 1);
    if (this.size >= this.places + this.#queue) this.#giveWay();
    const { promise, resolve, reject } = Promise.withResolvers<Disposable>();
    const waiter: Waiter = { enter: () => resolve(this.#place()), refuse: reject };
    const leave = () => {
      if (this.#leave(key, waiter)) reject(signal.reason);
    };
    const line = this.#lines.get(key);
    if (line) line.push(waiter);
    else this.#lines.set(key, [waiter]);
    this.#waiting += 1;
    signal.addEventListener('abort', leave, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Refuses those who wait, and all who come. */
  close(): void {
    this.#isClosed = true;
    for (const [key, line] of [...this.#lines]) {
      for (const waiter of [...line]) {
        this.#leave(key, waiter);
        waiter.refuse(stopping());
      }
    }
  }

  #place(): Disposable {
    this.#inside += 1;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#inside -= 1;
        this.#admit();
      },
    };
  }

  #admit(): void {
    const [next] = this.#lines;
    if (!next || this.#inside >= this.places) return;
    const [key, line] = next;
    const waiter = line.shift();
    this.#lines.delete(key);
    if (line.length > 0) this.#lines.set(key, line);
    if (!waiter) return;
    this.#waiting -= 1;
    waiter.enter();
  }

  #lengthOf(key: string): number {
    return this.#lines.get(key)?.length ?? 0;
  }

  #longest(): [key: string, line: Waiter[]] | undefined {
    let longest: [string, Waiter[]] | undefined;
    for (const each of this.#lines) if (each[1].length > (longest?.[1].length ?? 0)) longest = each;
    return longest;
  }

  /** The newest of the longest line is refused. */
  #giveWay(): void {
    const line = this.#longest();
    const last = line?.[1].at(-1);
    if (!line || !last) return;
    this.#leave(line[0], last);
    last.refuse(overloaded());
  }

  /** Whether it was still waiting. */
  #leave(key: string, waiter: Waiter): boolean {
    const line = this.#lines.get(key);
    const at = line?.indexOf(waiter) ?? -1;
    if (!line || at < 0) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(key);
    this.#waiting -= 1;
    return true;
  }
}

function overloaded(): CompletionError {
  return new CompletionError('overloaded', 'All places are taken; try again in a moment.', { retryAfterMs: 1_000 });
}

/** Another process may serve in a moment. */
export function stopping(): CompletionError {
  return new CompletionError('overloaded', 'The service is stopping; try again in a moment.', { retryAfterMs: 2_000 });
}
