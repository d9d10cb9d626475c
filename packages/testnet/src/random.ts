// Seeded randomness. Everything in the simulated internet is a function of (seed, domain, purpose), so nothing is
// stored.

/**
 * 32-bit hash of the parts, in order: FNV-1a over UTF-16 units, with murmur3's finalizer so that low bits are uniform.
 */
export function hashOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const part of parts) {
    const text = String(part);
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0x1f, 0x01000193); // a separator, so that ('ab','c') differs from ('a','bc')
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** True in the given share of cases. */
  chance(share: number): boolean;
  /** Uniform integer in [from, to]. */
  between(from: number, to: number): number;
  /** One item of a non-empty list. */
  pick<T>(list: readonly T[]): T;
  /** One item of a non-empty list, by weight. */
  weighted<T extends { readonly weight: number }>(list: readonly T[]): T;
}

/** An independent stream for each list of parts (mulberry32). */
export function randomFor(...parts: readonly (string | number)[]): Random {
  let state = hashOf(...parts);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const pick = <T>(list: readonly T[]): T => {
    const item = list[Math.floor(next() * list.length)];
    if (item === undefined) throw new RangeError('pick from an empty list');
    return item;
  };
  return {
    next,
    pick,
    chance: (share) => next() < share,
    between: (from, to) => from + Math.floor(next() * (to - from + 1)),
    weighted: (list) => {
      let rest = next() * list.reduce((sum, item) => sum + item.weight, 0);
      for (const item of list) {
        rest -= item.weight;
        if (rest < 0) return item;
      }
      return pick(list);
    },
  };
}

/**
 * Generates the ids, numbers and codes that providers assign to one customer; the same call always returns the same
 * value.
 */
export interface Mint {
  readonly domain: string;
  /** `example.co.uk` -> `example-co-uk`. */
  readonly slug: string;
  /** First label: `example`. */
  readonly brand: string;
  number(purpose: string, from: number, to: number): number;
  hex(purpose: string, length: number): string;
  /** Letters and digits, mixed case, like tokens. */
  code(purpose: string, length: number): string;
}

const CODE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export function mintFor(seed: string, domain: string): Mint {
  const characters = (purpose: string, length: number, alphabet: string) => {
    const random = randomFor(seed, domain, purpose, length);
    let text = '';
    for (let i = 0; i < length; i++) text += alphabet[Math.floor(random.next() * alphabet.length)];
    return text;
  };
  return {
    domain,
    slug: domain.replaceAll('.', '-'),
    brand: domain.slice(0, domain.indexOf('.')),
    number: (purpose, from, to) => from + (hashOf(seed, domain, purpose) % (to - from + 1)),
    hex: (purpose, length) => characters(purpose, length, '0123456789abcdef'),
    code: (purpose, length) => characters(purpose, length, CODE),
  };
}
