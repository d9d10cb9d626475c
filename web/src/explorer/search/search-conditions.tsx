// Search conditions from links that have no field in the form. Each can be removed.
import { Link } from '@tanstack/react-router';
import { flagLabels } from './labels.ts';
import { withChanges } from './search-params.ts';

/** The search parameters in the URL. */
export type SearchState = Readonly<
  Partial<
    Record<'q' | 'provider' | 'with' | 'category' | 'confidence' | 'sector' | 'state' | 'flag' | 'offset', string>
  >
>;

/** The label of each condition, by parameter name. */
const LABELS: Readonly<Record<string, (value: string) => string>> = {
  min_confidence: (value) => `at least ${value} confidence`,
  with: (value) => `also uses ${value}`,
  without: (value) => `without ${flagLabels(value).join(', ')}`,
  grade: (value) => `grade ${value.toUpperCase()}`,
  score_gte: (value) => (value === '0' ? 'has a score' : `score of at least ${value}`),
  score_lte: (value) => `score of at most ${value}`,
};

/** The conditions among the search parameters. */
export function conditionsOf(filters: SearchState): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).filter(([name]) => Object.hasOwn(LABELS, name)));
}

export function Conditions({ filters }: { readonly filters: SearchState }) {
  const conditions = Object.entries(conditionsOf(filters)).flatMap(([name, value]) => {
    const label = LABELS[name]?.(value);
    return label ? [{ name, label }] : [];
  });
  if (conditions.length === 0) return null;
  return (
    <ul className="search-narrowed" aria-label="Additional conditions">
      {conditions.map(({ name, label }) => (
        <li key={name}>
          <strong>{label}</strong>{' '}
          <Link
            to="/search"
            search={withChanges(filters, { [name]: undefined })}
            className="button small"
            onClick={focusContent}
          >
            Remove<span className="hidden-text"> {label}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** The link is removed with its condition: moves the focus to the content. */
function focusContent(): void {
  document.getElementById('content')?.focus({ preventScroll: true });
}
