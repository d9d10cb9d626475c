// The domains that are counted, each with a number: so many in all, and so many that one feed may bring.
import { NameNumbers } from './name-numbers.ts';

export interface CountedDomainsOptions {
  readonly max: number;
  /** Domains that nobody named before this feed did: a feed of junk must not leave the others without room. */
  readonly maxOfFeed: number;
}

export class CountedDomains {
  readonly #options: CountedDomainsOptions;
  readonly #numbers = new NameNumbers();
  /** By number: the last day on which it was named, and the feed that brought it. */
  #days = new Uint16Array(0);
  #bringers = new Uint32Array(0);
  /** Domains that each feed brought. */
  readonly #brought = new Map<number, number>();

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

  /** What columns by number need soon: they grow by halves, up to the most there may be. */
  get length(): number {
    const used = this.#numbers.names.length;
    return Math.max(used, Math.min(this.#options.max, used + (used >>> 1) + 1_024));
  }

  find(domain: string): number | undefined {
    return this.#numbers.find(domain);
  }

  /** The number of a domain that a feed names on a day; undefined where there is no room for it. */
  take(domain: string, { feedId, day }: { readonly feedId: number; readonly day: number }): number | undefined {
    const number = this.#numbers.find(domain) ?? this.#add(domain, feedId);
    if (number !== undefined && day > (this.#days[number] as number)) this.#days[number] = day;
    return number;
  }

  #add(domain: string, feedId: number): number | undefined {
    const brought = this.#brought.get(feedId) ?? 0;
    if (this.#numbers.size >= this.#options.max || brought >= this.#options.maxOfFeed) return undefined;
    const number = this.#numbers.add(domain);
    if (number >= this.#days.length) {
      const [days, bringers] = [new Uint16Array(this.length), new Uint32Array(this.length)];
      days.set(this.#days);
      bringers.set(this.#bringers);
      this.#days = days;
      this.#bringers = bringers;
    }
    this.#days[number] = 0;
    this.#bringers[number] = feedId;
    this.#brought.set(feedId, brought + 1);
    return number;
  }

  /** Domains that nobody named since the day give their numbers back. */
  forget(before: number): void {
    const { names } = this.#numbers;
    const silent: number[] = [];
    for (let number = 0; number < names.length; number += 1) {
      if ((this.#days[number] as number) >= before || names[number] === '') continue;
      silent.push(number);
      const feedId = this.#bringers[number] as number;
      const left = (this.#brought.get(feedId) ?? 1) - 1;
      if (left === 0) this.#brought.delete(feedId);
      else this.#brought.set(feedId, left);
    }
    this.#numbers.drop(silent);
  }
}
