// Finds providers by id, name or alias, case-insensitive, and suggests similar names.
import type { DomainIndex } from '@strata/analytics';
import type { Provider, Rulebook } from '@strata/detect';

export interface KnownProvider {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly website: string | null;
}

/** The provider of a name, alias or id, including providers that were removed from the rulebook and are still in use. */
export function findProvider(
  text: string,
  { rulebook, index }: { readonly rulebook: Rulebook; readonly index: DomainIndex },
): KnownProvider | undefined {
  const wanted = text.normalize('NFC').trim();
  // A plus in a path is literal, but many clients encode a blank as a plus.
  for (const name of new Set([wanted, wanted.replaceAll('+', ' ')])) {
    const entry = rulebook.findProvider(name);
    if (entry) return known(entry);
  }
  const id = wanted.toLowerCase();
  if (index.vocabulary.providers.find(id) === undefined) return undefined;
  return { id, name: id, owner: id, website: null };
}

/** The most similar names, nearest first, by the Sørensen–Dice coefficient of bigrams: twice the shared ones divided by the sum of both. */
export function nearestProviders(text: string, rulebook: Rulebook, count = 3): string[] {
  const { entries, withBigram, count: names } = namesOf(rulebook);
  const wanted = bigrams(text.normalize('NFC').trim().toLowerCase());
  const shared = new Uint16Array(names);
  for (const bigram of wanted) for (const at of withBigram.get(bigram) ?? []) shared[at] = (shared[at] ?? 0) + 1;
  const nearest: Likely[] = [];
  for (const { entry, from, sizes } of entries) {
    let likeness = 0;
    for (let i = 0; i < sizes.length; i += 1)
      likeness = Math.max(likeness, (2 * (shared[from + i] ?? 0)) / (wanted.size + (sizes[i] ?? 0)));
    const { name } = entry;
    const position = nearest.findIndex(
      (other) => likeness > other.likeness || (likeness === other.likeness && name < other.name),
    );
    if (position < 0 && nearest.length >= count) continue;
    nearest.splice(position < 0 ? nearest.length : position, 0, { name, likeness });
    if (nearest.length > count) nearest.pop();
  }
  return nearest.map(({ name }) => name);
}

interface Likely {
  readonly name: string;
  readonly likeness: number;
}

interface Names {
  /** For each provider: the number of its first name, and the number of bigrams of each name. */
  readonly entries: readonly { readonly entry: Provider; readonly from: number; readonly sizes: readonly number[] }[];
  /** Numbers of the names with the bigram. */
  readonly withBigram: ReadonlyMap<string, readonly number[]>;
  readonly count: number;
}

/** Computed once per rulebook: a request then compares only names that share a bigram. */
const namesByRulebook = new WeakMap<Rulebook, Names>();

function namesOf(rulebook: Rulebook): Names {
  const known = namesByRulebook.get(rulebook);
  if (known) return known;
  const withBigram = new Map<string, number[]>();
  let count = 0;
  const entries = [...rulebook.providers.values()].map((entry) => {
    const from = count;
    const names = new Set([entry.id, entry.name, ...entry.aliases].map((name) => name.toLowerCase()));
    const sizes = [...names].map((name) => {
      const bigramsOfName = bigrams(name);
      for (const bigram of bigramsOfName) {
        const numbers = withBigram.get(bigram);
        if (numbers) numbers.push(count);
        else withBigram.set(bigram, [count]);
      }
      count += 1;
      return bigramsOfName.size;
    });
    return { entry, from, sizes };
  });
  const made = { entries, withBigram, count };
  namesByRulebook.set(rulebook, made);
  return made;
}

function known(entry: Provider): KnownProvider {
  return { id: entry.id, name: entry.name, owner: entry.owner ?? entry.name, website: entry.website };
}

/** Pairs of neighbouring characters, with the ends marked. */
function bigrams(text: string): ReadonlySet<string> {
  const marked = `^${text.slice(0, 64)}$`;
  return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
}
