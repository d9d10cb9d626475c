// Finds providers by id, name or alias, case-insensitive, and suggests similar names.
import type { DomainIndex } from '@strata/analytics';
import type { Provider, Rulebook } from '@strata/detect';
import { nearestNames, type Suggestable, suggestable } from '@strata/http/nearest-names';

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

/** The most similar names, nearest first. */
export function nearestProviders(text: string, rulebook: Rulebook, count = 3): string[] {
  let names = namesByRulebook.get(rulebook);
  if (!names) {
    names = [...rulebook.providers.values()].map(({ id, name, aliases }) => suggestable(name, [id, ...aliases]));
    namesByRulebook.set(rulebook, names);
  }
  return nearestNames(text, names, count).map(({ name }) => name);
}

/** Computed once per rulebook. */
const namesByRulebook = new WeakMap<Rulebook, readonly Suggestable[]>();

function known(entry: Provider): KnownProvider {
  return { id: entry.id, name: entry.name, owner: entry.owner ?? entry.name, website: entry.website };
}
