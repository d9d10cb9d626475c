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

/** Names most like what was written, nearest first. */
export function nearestProviders(text: string, rulebook: Rulebook, count = 3): string[] {
  const wanted = bigrams(text.normalize('NFC').trim().toLowerCase());
  return [...rulebook.providers.values()]
    .map((entry) => {
      const names = [entry.id, entry.name, ...entry.aliases];
      return {
        name: entry.name,
        likeness: Math.max(...names.map((name) => dice(wanted, bigrams(name.toLowerCase())))),
      };
    })
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, count)
    .map(({ name }) => name);
}

function known(entry: Provider): KnownProvider {
  return { id: entry.id, name: entry.name, owner: entry.owner ?? entry.name, website: entry.website };
}

/** Pairs of neighbouring characters, with the ends marked. */
function bigrams(text: string): ReadonlySet<string> {
  const marked = `^${text.slice(0, 64)}$`;
  return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
}

/** Sørensen–Dice coefficient: twice what is shared over all there is. */
function dice(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return (2 * a.intersection(b).size) / (a.size + b.size);
}
