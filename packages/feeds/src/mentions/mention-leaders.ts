// The top ranks of a window, with the ranks in the previous window, in two passes over the sums.

/** A domain's ranks; equal sums share a rank: 1, 2, 2, 4. */
export interface Ranked {
  readonly number: number;
  readonly rank: number;
  readonly previousRank: number | null;
}

export interface Leaders {
  readonly ranked: readonly Ranked[];
  /** Domains with a mention, and the sum of all mentions. */
  readonly total: number;
  readonly mentions: number;
}

interface Sums {
  readonly now: Uint32Array;
  readonly before: Uint32Array;
}

/** Sums below this are counted in a table, the few larger ones in a map. */
const SMALL = 4_096;

/** A position in a leaderboard. */
export type LeaderKey = readonly [mentions: number, domain: string];

/** The sums of the domains that are marked by 1; the sum of any other domain is 0. */
export function sumsOf({ now, before }: Sums, marks: Uint8Array): Sums {
  const only = (sums: Uint32Array) => sums.map((sum, number) => sum * (marks[number] ?? 0));
  return { now: only(now), before: only(before) };
}

/** Most mentioned first, ties in the order of names; only those after the key. */
export function leadersOf(
  { now, before }: Sums,
  {
    names,
    limit,
    after,
  }: { readonly names: readonly string[]; readonly limit: number; readonly after?: LeaderKey | undefined },
): Leaders {
  const current = new Ranks(now, names.length);
  const isListed = (number: number) => {
    const sum = now[number] as number;
    return !after || sum < after[0] || (sum === after[0] && (names[number] as string) > after[1]);
  };
  let skipped = 0;
  if (after) for (let number = 0; number < names.length; number += 1) skipped += Number(!isListed(number));
  const min = current.valueAt(skipped + limit);
  const above: number[] = [];
  const level: number[] = [];
  for (let number = 0; number < names.length; number += 1) {
    if (!isListed(number)) continue;
    const sum = now[number] as number;
    if (sum > min) above.push(number);
    else if (sum === min && sum > 0) level.push(number);
  }
  const byName = (a: number, b: number) => ((names[a] as string) < (names[b] as string) ? -1 : 1);
  above.sort((a, b) => (now[b] as number) - (now[a] as number) || byName(a, b));
  const chosen = [...above, ...firstOf(level, limit - above.length, byName)];
  const previous = new Ranks(before, names.length);
  const ranked = chosen.map((number) => {
    const held = before[number] as number;
    return {
      number,
      rank: current.rankOf(now[number] as number),
      previousRank: held === 0 ? null : previous.rankOf(held),
    };
  });
  return { ranked, total: current.total, mentions: current.sum };
}

/** How many domains have each sum, and the rank of a sum. */
class Ranks {
  readonly #small = new Uint32Array(SMALL);
  /** Sums from `SMALL` on, largest first, with the number of domains. */
  readonly #large: readonly (readonly [sum: number, count: number])[];
  readonly #ranks = new Map<number, number>();
  readonly total: number;
  readonly sum: number;

  constructor(sums: Uint32Array, length: number) {
    const large = new Map<number, number>();
    let total = 0;
    let all = 0;
    for (let number = 0; number < length; number += 1) {
      const sum = sums[number] as number;
      if (sum === 0) continue;
      total += 1;
      all += sum;
      if (sum < SMALL) this.#small[sum] = (this.#small[sum] as number) + 1;
      else large.set(sum, (large.get(sum) ?? 0) + 1);
    }
    this.#large = [...large].sort(([a], [b]) => b - a);
    this.total = total;
    this.sum = all;
    let larger = 0;
    for (const [sum, count] of this.#fromLargest()) {
      this.#ranks.set(sum, larger + 1);
      larger += count;
    }
  }

  /** One more than the number of domains with a larger sum. `sum` must exist. */
  rankOf(sum: number): number {
    return this.#ranks.get(sum) as number;
  }

  /** The sum of the domain at this rank; 0 if there are fewer domains. */
  valueAt(rank: number): number {
    let counted = 0;
    for (const [sum, count] of this.#fromLargest()) {
      counted += count;
      if (counted >= rank) return sum;
    }
    return 0;
  }

  *#fromLargest(): Generator<readonly [sum: number, count: number]> {
    yield* this.#large;
    for (let sum = SMALL - 1; sum > 0; sum -= 1) {
      const count = this.#small[sum] as number;
      if (count > 0) yield [sum, count];
    }
  }
}

/** The first `limit` in order, without sorting all: candidates after the last of the best so far are skipped. */
function firstOf(all: readonly number[], limit: number, compare: (a: number, b: number) => number): number[] {
  let best: number[] = [];
  let last: number | undefined;
  for (const each of all) {
    if (last !== undefined && compare(each, last) > 0) continue;
    best.push(each);
    // Sorted only after it has doubled: each sort then removes as many candidates as it keeps.
    if (best.length < 2 * limit + 16) continue;
    best = best.sort(compare).slice(0, limit);
    last = best.at(-1);
  }
  return best.sort(compare).slice(0, limit);
}
