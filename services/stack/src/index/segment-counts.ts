// Counts over the domains of a query: computed in short slices, one query at a time, and kept for a minute.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { countDomains, type DomainIndex, evaluateQuery, type Population, type Query } from '@strata/analytics';
import { countedCache, refuse } from '@strata/http';
import { Semaphore } from '@strata/limits';

/** Aggregates of queries that are kept; one takes up to some megabytes. */
const MAX_KEPT = 16;
/** Ages in a query are relative to the time of its evaluation. */
const MAX_AGE_MS = 60_000;
/** A query that matches nearly all of a million domains takes about five seconds on a busy machine. */
const MAX_WAITING = 16;

export class SegmentCounts {
  readonly #index: DomainIndex;
  /** By query and position of the index. */
  readonly #kept = countedCache<Promise<Population>>(MAX_KEPT, { ttl: MAX_AGE_MS });
  /** The questions of one answer, which share a query, count the same domains, also while the index changes. */
  readonly #counted = new WeakMap<Query, Promise<Population>>();
  readonly #slots = new Semaphore(1);
  #waiting = 0;

  constructor(index: DomainIndex) {
    this.#index = index;
  }

  /** Of a query with its text. Refuses with `unavailable` if too many queries wait. */
  async of(text: string, query: Query): Promise<Population> {
    const key = `${this.#index.position.seq} ${text}`;
    const known = this.#counted.get(query) ?? this.#kept.get(key) ?? this.#count(key, query);
    this.#counted.set(query, known);
    return known;
  }

  #count(key: string, query: Query): Promise<Population> {
    const counting = this.#run(() => countDomains(this.#index, evaluateQuery(this.#index, query)));
    this.#kept.set(key, counting);
    counting.catch(() => this.#kept.delete(key));
    return counting;
  }

  /** Refuses with `unavailable` if too many wait. */
  async #run<T>(begin: () => Generator<undefined, T>): Promise<T> {
    if (this.#waiting >= MAX_WAITING)
      return refuse('unavailable', 'Too many queries are being counted.', { headers: { 'retry-after': '5' } });
    this.#waiting += 1;
    await this.#slots.acquire();
    try {
      return await inSlices(begin());
    } finally {
      this.#slots.release();
      this.#waiting -= 1;
    }
  }
}

/** The result of work over many domains; other work runs between its steps. */
export async function inSlices<T>(work: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await yieldToEventLoop();
  }
}
