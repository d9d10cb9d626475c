// The counted domains, each with a number: limited in total, and for each feed.
import { NameNumbers } from './name-numbers.ts';

export interface CountedDomainsOptions {
  readonly max: number;
  /** New domains that one feed may add: a spam feed must not use up the capacity. */
  readonly maxOfFeed: number;
}

export class CountedDomains {
  readonly #options: CountedDomainsOptions;
  readonly #numbers = new NameNumbers();
  /** By number: the last day of a mention, and the feed that added the domain. */
  #days = new Uint16Array(0);
  #addedBy = new Uint32Array(0);
  /** Number of domains added by each feed. */
  readonly #addedCounts = new Map<number, number>();

  constructor(options: CountedDomainsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#numbers.size;
  }

  /** By number; empty for a number without a domain. */
  get names(): readonly string[] {
    return this.#numbers.names;
  }

  /** The length to allocate for columns by number: grows by half, up to the maximum. */
  get length(): number {
    const used = this.#numbers.names.length;
    return Math.max(used, Math.min(this.#options.max, used + (used >>> 1) + 1_024));
  }

  find(domain: string): number | undefined {
    return this.#numbers.find(domain);
  }

  /** The number of a domain that a feed mentions on a day; undefined if the limit is reached. */
  take(domain: string, { feedId, day }: { readonly feedId: number; readonly day: number }): number | undefined {
    const number = this.#numbers.find(domain) ?? this.#add(domain, feedId);
    if (number !== undefined && day > (this.#days[number] as number)) this.#days[number] = day;
    return number;
  }

  #add(domain: string, feedId: number): number | undefined {
    const addedByFeed = this.#addedCounts.get(feedId) ?? 0;
    if (this.#numbers.size >= this.#options.max || addedByFeed >= this.#options.maxOfFeed) return undefined;
    const number = this.#numbers.add(domain);
    if (number >= this.#days.length) {
      const [days, addedBy] = [new Uint16Array(this.length), new Uint32Array(this.length)];
      days.set(this.#days);
      addedBy.set(this.#addedBy);
      this.#days = days;
      this.#addedBy = addedBy;
    }
    this.#days[number] = 0;
    this.#addedBy[number] = feedId;
    this.#addedCounts.set(feedId, addedByFeed + 1);
    return number;
  }

  /** Releases the numbers of domains without a mention since the day. */
  forget(before: number): void {
    const { names } = this.#numbers;
    const unused: number[] = [];
    for (let number = 0; number < names.length; number += 1) {
      if ((this.#days[number] as number) >= before || names[number] === '') continue;
      unused.push(number);
      const feedId = this.#addedBy[number] as number;
      const left = (this.#addedCounts.get(feedId) ?? 1) - 1;
      if (left === 0) this.#addedCounts.delete(feedId);
      else this.#addedCounts.set(feedId, left);
    }
    this.#numbers.drop(unused);
  }
}
