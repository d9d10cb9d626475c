// The names most like a misspelt one: of parameters, settings, categories and providers.

/** A name that can be suggested. */
export interface Suggestable {
  readonly name: string;
  /** Of the name and its synonyms. */
  readonly bigrams: readonly ReadonlySet<string>[];
}

/** Below this likeness a name is not suggested for a typing error. */
const MIN_LIKENESS = 0.4;

export function suggestable(name: string, synonyms: readonly string[] = []): Suggestable {
  const distinct = new Set([name, ...synonyms].map((each) => each.toLowerCase()));
  return { name, bigrams: Array.from(distinct, bigramsOf) };
}

/**
 * At most `count` names, most similar first, case-insensitive, by the Sørensen–Dice coefficient of bigrams: twice the shared
 * ones divided by the sum of both.
 */
export function nearestNames(text: string, names: readonly Suggestable[], count: number) {
  const wanted = bigramsOf(text.normalize('NFC').trim().toLowerCase());
  const likenessOf = (own: ReadonlySet<string>) => {
    let shared = 0;
    for (const bigram of wanted) if (own.has(bigram)) shared += 1;
    return (2 * shared) / (wanted.size + own.size);
  };
  return names
    .map(({ name, bigrams }) => ({ name, likeness: Math.max(...bigrams.map(likenessOf)) }))
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, count);
}

/** The name that was probably meant; undefined if no name is similar. */
export function nearestName(text: string, names: readonly string[]): string | undefined {
  const [best] = nearestNames(
    text,
    names.map((name) => suggestable(name)),
    1,
  );
  return best && best.likeness >= MIN_LIKENESS ? best.name : undefined;
}

/** What may have been meant by an unknown name, for the end of a message: the nearest known name, or all of them. */
export function suggestionFor(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  if (near !== undefined) return `did you mean ${near}?`;
  return known.length === 0 ? 'there are no known names here' : `known are ${known.join(', ')}`;
}

/** Pairs of neighbouring characters, with the ends marked. */
function bigramsOf(text: string): ReadonlySet<string> {
  const marked = `^${text.slice(0, 64)}$`;
  return new Set(Array.from({ length: marked.length - 1 }, (_, i) => marked.slice(i, i + 2)));
}
