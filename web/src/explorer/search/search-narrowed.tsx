// Conditions of a search that come with a number that was followed and have no field of their own: said in words, each to be taken off.
import { Link } from '@tanstack/react-router';
import { marksInWords } from './labels.ts';
import { withChanges } from './search-params.ts';

/** The conditions of a search, as the address has them. */
export type SearchState = Readonly<
  Partial<
    Record<'q' | 'provider' | 'with' | 'category' | 'confidence' | 'sector' | 'state' | 'flag' | 'offset', string>
  >
>;

/** What each condition says, by its name in the address. */
const WORDS: Readonly<Record<string, (value: string) => string>> = {
  min_confidence: (value) => `at least ${value} confidence`,
  with: (value) => `also uses ${value}`,
  without: (value) => `without ${marksInWords(value).join(', ')}`,
  grade: (value) => `grade ${value.toUpperCase()}`,
  score_gte: (value) => (value === '0' ? 'has a score' : `score of ${value} or more`),
  score_lte: (value) => `score of ${value} or less`,
};

/** Those of an address, by their names. */
export function conditionsOf(filters: SearchState): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => Object.hasOwn(WORDS, name)));
}

export function Narrowed({ filters }: { readonly filters: SearchState }) {
  const given = Object.entries(conditionsOf(filters)).flatMap(([name, value]) => {
    const words = WORDS[name]?.(value);
    return words ? [{ name, words }] : [];
  });
  if (given.length === 0) return null;
  return (
    <ul className="search-narrowed" aria-label="More conditions">
      {given.map(({ name, words }) => (
        <li key={name}>
          Only: <strong>{words}</strong>{' '}
          <Link
            to="/search"
            search={withChanges(filters, { [name]: undefined })}
            className="button small"
            onClick={toContent}
          >
            Take off<span className="hidden-text"> {words}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The link goes with its condition: the focus must not go with it. */
function toContent(): void {
  document.getElementById('content')?.focus({ preventScroll: true });
}
