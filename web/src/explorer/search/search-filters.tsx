// The filter form of the search, and the conditions from links that have no field in it.
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useRef } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { formatName } from '../../ui/formats.ts';
import { CATEGORIES, labelled, SECTORS } from '../links/categories.ts';
import { SelectField, TextField } from '../links/fields.tsx';
import { changed, type Search, withChanges } from '../links/search-params.ts';
import { CONFIDENCES, FLAGS, flagLabels, SORTS, STATES } from './labels.ts';
import { QueryHelp } from './query-help.tsx';

/** The search parameters without the position in the list. */
interface FiltersProps {
  readonly filters: Search;
}

/** All filters are applied together, since each search uses a request. Conditions without a field are kept. */
export function Filters({ filters }: FiltersProps) {
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    const changes: Record<string, string> = Object.fromEntries(given);
    // An exact confidence replaces the minimum confidence.
    const min = changes.confidence ? { min_confidence: '' } : {};
    void navigate({ to: '/search', search: withChanges({ ...conditionsOf(filters), ...min }, changes) });
  };
  const clear = () => {
    form.current?.reset();
    void navigate({ to: '/search', search: {} });
  };
  return (
    <form ref={form} className="card fields" onSubmit={apply} aria-label="Filters">
      <div className="query-field">
        <TextField
          label="Query"
          name="query"
          value={filters.query}
          placeholder="email:google-workspace NOT dmarc:reject"
          maxLength={2_000}
        />
      </div>
      <QueryHelp />
      <TextField label="Name contains" name="q" value={filters.q} placeholder="shop" />
      <TextField label="Provider" name="provider" value={filters.provider} placeholder="Cloudflare" />
      <SelectField label="Category" name="category" value={filters.category} options={labelled(CATEGORIES)} />
      <SelectField label="Confidence" name="confidence" value={filters.confidence} options={CONFIDENCES} />
      <SelectField label="Sector" name="sector" value={filters.sector} options={labelled(SECTORS)} />
      <SelectField label="State" name="state" value={filters.state} options={STATES} />
      <SelectField
        label="Posture"
        name="flag"
        value={filters.flag}
        groups={FLAGS}
        nameOf={(flags) => flagLabels(flags).join(' and ')}
      />
      <SelectField label="Sort by" name="sort" value={filters.sort} options={SORTS} isRequired />
      <div className="actions">
        <Button kind="primary" type="submit">
          Search
        </Button>
        <Button onClick={clear}>Clear</Button>
      </div>
    </form>
  );
}

/** The label of each condition, by parameter name. */
const LABELS: Readonly<Record<string, (value: string) => string>> = {
  role: (value) => `role ${formatName(value)}`,
  min_confidence: (value) => `at least ${value} confidence`,
  with: (value) => `also uses ${value}`,
  without: (value) => `without ${flagLabels(value).join(', ')}`,
  grade: (value) => `grade ${value.toUpperCase()}`,
  score_gte: (value) => (value === '0' ? 'has a score' : `score of at least ${value}`),
  score_lte: (value) => `score of at most ${value}`,
};

/** The conditions among the search parameters. */
const conditionsOf = (filters: Search): Search =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => Object.hasOwn(LABELS, name)));

/** Each condition can be removed. */
export function Conditions({ filters }: FiltersProps) {
  const conditions = Object.entries(conditionsOf(filters));
  if (conditions.length === 0) return null;
  return (
    <ul className="row" aria-label="Additional conditions">
      {conditions.map(([name, value = '']) => {
        const label = LABELS[name]?.(value);
        return (
          <li key={name}>
            <strong>{label}</strong>{' '}
            <Link {...changed({ [name]: undefined })} className="button small" onClick={focusContent}>
              Remove<span className="hidden-text"> {label}</span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

/** The link is removed with its condition: moves the focus to the content. */
function focusContent(): void {
  document.getElementById('content')?.focus({ preventScroll: true });
}
