// The names most like a misspelt one: of parameters, settings, categories and providers.

/** Names that mean the same thing; suggestions are by the first. */
export type Synonyms = readonly [name: string, ...synonyms: string[]];

interface Likely {
  readonly name: string;
  readonly likeness: number;
}

/** Below this likeness a name is no suggestion for a typing error. */
const MIN_LIKENESS = 0.4;

/**
 * Compares texts with a list of names, case-insensitive, by the Sørensen–Dice coefficient of bigrams: twice the shared ones
 * divided by the sum of both. Only names that share a bigram are visited.
 */
export class NameIndex {
  /** For each entry: the number of its first name, and the number of bigrams of each name. */
  readonly #entries: readonly { readonly name: string; readonly from: number; readonly sizes: readonly number[] }[];
  /** Numbers of the names with the bigram. */
  readonly #withBigram = new Map<string, number[]>();
  #count = 0;

  constructor(entries: Iterable<Synonyms>) {
    this.#entries = Array.from(entries, (all) => {
      const from = this.#count;
      const names = new Set(all.map((name) => name.toLowerCase()));
      return { name: all[0], from, sizes: Array.from(names, (name) => this.#add(name)) };
    });
  }

  #add(name: string): number {
    const bigrams = bigramsOf(name);
    for (const bigram of bigrams) {
      const numbers = this.#withBigram.get(bigram);
      if (numbers) numbers.push(this.#count);
      else this.#withBigram.set(bigram, [this.#count]);
    }
    this.#count += 1;
    return bigrams.size;
  }

  /** At most `count` names, most similar first; equal ones in alphabetical order. */
  nearest(text: string, count: number): readonly Likely[] {
    const wanted = bigramsOf(text.normalize('NFC').trim().toLowerCase());
    const shared = new Uint16Array(this.#count);
    for (const bigram of wanted)
      for (const at of this.#withBigram.get(bigram) ?? []) shared[at] = (shared[at] ?? 0) + 1;
    const nearest: Likely[] = [];
    for (const { name, from, sizes } of this.#entries) {
      let likeness = 0;
      for (let i = 0; i < sizes.length; i += 1)
        likeness = Math.max(likeness, (2 * (shared[from + i] ?? 0)) / (wanted.size + (sizes[i] ?? 0)));
      const position = nearest.findIndex(
        (other) => likeness > other.likeness || (likeness === other.likeness && name < other.name),
      );
      if (position < 0 && nearest.length >= count) continue;
      nearest.splice(position < 0 ? nearest.length : position, 0, { name, likeness });
      if (nearest.length > count) nearest.pop();
    }
    return nearest;
  }
}

/** The name that was probably meant; undefined if no name is similar. */
export function nearestName(text: string, names: Iterable<string>): string | undefined {
  const [best] = new NameIndex(Array.from(names, (name) => [name] as const)).nearest(text, 1);
  return best && best.likeness >= MIN_LIKENESS ? best.name : undefined;
}

/** What may have been meant by an unknown name, for the end of a message: the nearest known name, or all of them. */
export function suggestionFor(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  if (near !== undefined) return `did you mean ${near}?`;
  return known.length === 0 ? 'no name is known' : `known are ${known.join(', ')}`;
}

/** Pairs of neighbouring characters, with the ends marked. */
function bigramsOf(text: string): ReadonlySet<string> {
  const marked = `^${text.slice(0, 64)}$`;
  return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
}
