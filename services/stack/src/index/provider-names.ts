// Finds providers by id, name or alias, case-insensitive, and suggests similar names.
import type { Provider, Rulebook } from '@strata/detect';
import { nearestNames, type Suggestable, suggestable } from '@strata/http/nearest-names';
import type { KnownDomains } from './known-domains.ts';

export interface KnownProvider {
  readonly id: string;
  readonly name: string;
  readonly owner: string;
  readonly website: string | null;
}

/** The provider of a name, alias or id, including providers that were removed from the rulebook and are still in use. */
export function findProvider(
  text: string,
  { rulebook, known }: { readonly rulebook: Rulebook; readonly known: Pick<KnownDomains, 'usersOf'> },
): KnownProvider | undefined {
  const wanted = text.normalize('NFC').trim();
  // A plus in a path is literal, but many clients encode a blank as a plus.
  for (const name of new Set([wanted, wanted.replaceAll('+', ' ')])) {
    const entry = rulebook.findProvider(name);
    if (entry) return providerOf(entry);
  }
  const id = wanted.toLowerCase();
  if (known.usersOf(id) === undefined) return undefined;
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

function providerOf(entry: Provider): KnownProvider {
  return { id: entry.id, name: entry.name, owner: entry.owner ?? entry.name, website: entry.website };
}
