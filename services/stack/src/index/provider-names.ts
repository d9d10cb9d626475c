// Providers as callers write them: id, name or alias, whatever the case; and who might have been meant when none fits.
import type { DomainIndex } from '@strata/analytics';
import type { Provider, Rulebook } from '@strata/detect';

export interface KnownProvider {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly website: string | null;
}

/** The provider of a name, alias or id; also one that has left the rulebook while domains still show it. */
export function findProvider(
  text: string,
  { rulebook, index }: { readonly rulebook: Rulebook; readonly index: DomainIndex },
): KnownProvider | undefined {
  const wanted = text.normalize('NFC').trim();
  // A plus in a path is a plus, but many write a blank so.
  for (const name of new Set([wanted, wanted.replaceAll('+', ' ')])) {
    const entry = rulebook.findProvider(name);
    if (entry) return known(entry);
  }
  const id = wanted.toLowerCase();
  if (index.vocabulary.providers.find(id) === undefined) return undefined;
  return { id, name: id, owner: id, website: null };
}

/** Names most like what was written, nearest first: by the Sørensen–Dice coefficient of bigrams, twice what is shared over all there is. */
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
    const place = nearest.findIndex(
      (other) => likeness > other.likeness || (likeness === other.likeness && name < other.name),
    );
    if (place < 0 && nearest.length >= count) continue;
    nearest.splice(place < 0 ? nearest.length : place, 0, { name, likeness });
    if (nearest.length > count) nearest.pop();
  }
  return nearest.map(({ name }) => name);
}

interface Likely {
  readonly name: string;
  readonly likeness: number;
}

interface Names {
  /** Of each provider: the number of its first name, and how many bigrams each of its names has. */
  readonly entries: readonly { readonly entry: Provider; readonly from: number; readonly sizes: readonly number[] }[];
  /** Numbers of the names that have it. */
  readonly withBigram: ReadonlyMap<string, readonly number[]>;
  readonly count: number;
}

/** Whoever mistypes a name waits for no more than a look at those that are like it: cut up once for each rulebook. */
const cutUp = new WeakMap<Rulebook, Names>();

function namesOf(rulebook: Rulebook): Names {
  const known = cutUp.get(rulebook);
  if (known) return known;
  const withBigram = new Map<string, number[]>();
  let count = 0;
  const entries = [...rulebook.providers.values()].map((entry) => {
    const from = count;
    const names = new Set([entry.id, entry.name, ...entry.aliases].map((name) => name.toLowerCase()));
    const sizes = [...names].map((name) => {
      const parts = bigrams(name);
      for (const part of parts) {
        const numbers = withBigram.get(part);
        if (numbers) numbers.push(count);
        else withBigram.set(part, [count]);
      }
      count += 1;
      return parts.size;
    });
    return { entry, from, sizes };
  });
  const made = { entries, withBigram, count };
  cutUp.set(rulebook, made);
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
