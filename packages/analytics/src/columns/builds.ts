// The builds of products (versions with their platforms), and the domains that show each. The number of a build without
// domains is reused, so that memory grows with the current builds and not with all that ever existed.
import { buildSets } from '../sets/build-sets.ts';
import { DomainSet, sizeOfSets } from '../sets/domain-set.ts';
import type { DomainColumns } from './domain-columns.ts';
import type { NameTable } from './name-table.ts';

export interface Build {
  readonly version: string;
  readonly platform: string | null;
}

export type BuildWord = readonly [provider: number, version: string, platform: string | null];

export class Builds {
  /** By number; undefined for a free number. */
  readonly #words: (BuildWord | undefined)[] = [];
  readonly #numbers = new Map<string, number>();
  #sets: (DomainSet | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #byProvider = new Map<number, Set<number>>();

  constructor(words: Iterable<BuildWord | null> = []) {
    for (const word of words) {
      const number = this.#words.push(undefined) - 1;
      if (word) this.#name(number, word);
      else this.#free.push(number);
    }
  }

  /** By number, null for a free number. */
  words(): readonly (BuildWord | null)[] {
    return this.#words.map((word) => word ?? null);
  }

  word(number: number): BuildWord {
    const word = this.#words[number];
    if (!word) throw new RangeError(`no build has the number ${number}`);
    return word;
  }

  /** Domains that show it. */
  domains(number: number): DomainSet {
    return this.#sets[number] ?? new DomainSet();
  }

  /** Numbers of a provider's builds. */
  of(provider: number): Iterable<number> {
    return this.#byProvider.get(provider) ?? [];
  }

  /** The build's number, assigned on first use; the caller adds a domain to it next. */
  number(word: BuildWord): number {
    const known = this.#numbers.get(keyOf(word));
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#words.push(undefined) - 1;
    this.#name(number, word);
    return number;
  }

  /** Moves a domain to the builds that it shows now; returns the builds that no domain showed before. */
  move(domain: number, before: ArrayLike<number>, after: readonly number[]): number[] {
    const come = after.filter((number) => this.#setOf(number).add(domain));
    for (let i = 0; i < before.length; i += 1) {
      const number = before[i] as number;
      if (after.includes(number)) continue;
      const set = this.#setOf(number);
      set.delete(domain);
      if (set.size === 0) this.#forget(number);
    }
    return come.filter((number) => this.domains(number).size === 1);
  }

  /** Adds all domains at once. */
  fill(names: NameTable, columns: DomainColumns): void {
    this.#sets = buildSets(this.#words.length, names.limit, (visit) => {
      names.each((domain) => {
        const { pool, from, to } = columns.buildsIn(domain);
        for (let at = from; at < to; at += 1) visit(pool[at] as number, domain);
      });
    });
    for (const [number, word] of this.#words.entries()) if (word && !this.#sets[number]) this.#forget(number);
  }

  /** Bytes of the sets. */
  get byteLength(): number {
    return sizeOfSets(this.#sets);
  }

  get size(): number {
    return this.#numbers.size;
  }

  #name(number: number, word: BuildWord): void {
    this.#words[number] = word;
    this.#numbers.set(keyOf(word), number);
    const of = this.#byProvider.get(word[0]);
    if (of) of.add(number);
    else this.#byProvider.set(word[0], new Set([number]));
  }

  #forget(number: number): void {
    const word = this.word(number);
    this.#words[number] = undefined;
    this.#sets[number] = undefined;
    this.#numbers.delete(keyOf(word));
    this.#byProvider.get(word[0])?.delete(number);
    this.#free.push(number);
  }

  #setOf(number: number): DomainSet {
    let set = this.#sets[number];
    if (!set) {
      set = new DomainSet();
      this.#sets[number] = set;
    }
    return set;
  }
}

/** A build without a platform differs from one with an empty platform. */
function keyOf([provider, version, platform]: BuildWord): string {
  return platform === null ? `${provider}\n${version}` : `${provider}\n${version}\n${platform}`;
}
