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
  const { names, withBigram } = namesOf(rulebook);
  const wanted = bigrams(text.normalize('NFC').trim().toLowerCase());
  const shared = new Uint16Array(names.length);
  for (const bigram of wanted) for (const at of withBigram.get(bigram) ?? []) shared[at] = (shared[at] ?? 0) + 1;
  const likeness = new Map<Provider, number>();
  for (const [at, { entry, size }] of names.entries()) {
    const share = (2 * (shared[at] ?? 0)) / (wanted.size + size);
    if (share >= (likeness.get(entry) ?? 0)) likeness.set(entry, share);
  }
  const nearest: (readonly [Provider, number])[] = [];
  for (const each of likeness) {
    const place = nearest.findIndex((other) => isNearer(each, other));
    if (place < 0 && nearest.length >= count) continue;
    nearest.splice(place < 0 ? nearest.length : place, 0, each);
    if (nearest.length > count) nearest.pop();
  }
  return nearest.map(([{ name }]) => name);
}

function isNearer(a: readonly [Provider, number], b: readonly [Provider, number]): boolean {
  return a[1] > b[1] || (a[1] === b[1] && a[0].name < b[0].name);
}

interface Names {
  readonly names: readonly { readonly entry: Provider; readonly size: number }[];
  /** Places in `names` of those that have it. */
  readonly withBigram: ReadonlyMap<string, readonly number[]>;
}

/** Whoever mistypes a name waits for no more than a look at those that are like it: cut up once for each rulebook. */
const cutUp = new WeakMap<Rulebook, Names>();

function namesOf(rulebook: Rulebook): Names {
  const known = cutUp.get(rulebook);
  if (known) return known;
  const names: Names['names'][number][] = [];
  const withBigram = new Map<string, number[]>();
  for (const entry of rulebook.providers.values()) {
    for (const name of new Set([entry.id, entry.name, ...entry.aliases].map((each) => each.toLowerCase()))) {
      const parts = bigrams(name);
      for (const part of parts) {
        const places = withBigram.get(part);
        if (places) places.push(names.length);
        else withBigram.set(part, [names.length]);
      }
      names.push({ entry, size: parts.size });
    }
  }
  const made = { names, withBigram };
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
