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
  const wanted = bigramsOf(text.normalize('NFC').trim().toLowerCase());
  const likenessOf = (own: ReadonlySet<string>) => {
    let shared = 0;
    for (const bigram of wanted) if (own.has(bigram)) shared += 1;
    return (2 * shared) / (wanted.size + own.size);
  };
  return namesOf(rulebook)
    .map(({ name, bigrams }) => ({ name, likeness: Math.max(...bigrams.map(likenessOf)) }))
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

interface Names {
  readonly name: string;
  /** Of the id, the name and the aliases. */
  readonly bigrams: readonly ReadonlySet<string>[];
}

/** Computed once per rulebook. */
const namesByRulebook = new WeakMap<Rulebook, readonly Names[]>();

function namesOf(rulebook: Rulebook): readonly Names[] {
  const known = namesByRulebook.get(rulebook);
  if (known) return known;
  const names = [...rulebook.providers.values()].map(({ id, name, aliases }) => {
    const distinct = new Set([id, name, ...aliases].map((each) => each.toLowerCase()));
    return { name, bigrams: [...distinct].map(bigramsOf) };
  });
  namesByRulebook.set(rulebook, names);
  return names;
}

function known(entry: Provider): KnownProvider {
  return { id: entry.id, name: entry.name, owner: entry.owner ?? entry.name, website: entry.website };
}

/** Pairs of neighbouring characters, with the ends marked. */
function bigramsOf(text: string): ReadonlySet<string> {
  const marked = `^${text.slice(0, 64)}$`;
  return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
}
