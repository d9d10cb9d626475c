// The filter form of the search.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type RefObject, useId, useLayoutEffect, useRef } from 'react';
import { CATEGORIES } from '../answer/categories.ts';
import { SECTORS } from '../answer/sectors.ts';
import { CONFIDENCES, FLAGS, flagLabels, type LabelledValues, labelled, STATES } from './labels.ts';
import { conditionsOf, type SearchState } from './search-conditions.tsx';
import { withChanges } from './search-params.ts';

interface FiltersProps {
  readonly filters: SearchState;
  readonly onApply: (filters: Record<string, string>) => void;
}

/** All filters are applied together, since each search uses a request. Conditions without a field are kept. */
export function Filters({ filters, onApply }: FiltersProps) {
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    const changes: Record<string, string> = Object.fromEntries(given);
    // An exact confidence replaces the minimum confidence.
    const min = changes.confidence ? { min_confidence: '' } : {};
    onApply(withChanges({ ...conditionsOf(filters), ...min }, changes));
  };
  const clear = () => {
    form.current?.reset();
    void navigate({ to: '/search', search: {} });
  };
  return (
    <form ref={form} className="card search-filters" onSubmit={apply} aria-label="Filters">
      <Field label="Name contains" name="q" value={filters.q} placeholder="shop" />
      <Field label="Provider" name="provider" value={filters.provider} placeholder="Cloudflare" />
      <Choice label="Category" name="category" value={filters.category} values={labelled(...CATEGORIES)} />
      <Choice label="Confidence" name="confidence" value={filters.confidence} values={CONFIDENCES} />
      <Choice label="Sector" name="sector" value={filters.sector} values={labelled(...SECTORS)} />
      <Choice label="State" name="state" value={filters.state} values={STATES} />
      <Choice label="Posture" name="flag" value={filters.flag} groups={FLAGS} />
      <div className="actions">
        <button className="button primary" type="submit">
          Search
        </button>
        <button className="button" type="button" onClick={clear}>
          Clear
        </button>
      </div>
    </form>
  );
}

/** Sets the field to the value in the URL whenever that changes; keeps user input and focus until then. */
function useUrlValue(field: RefObject<HTMLInputElement | HTMLSelectElement | null>, value = ''): void {
  useLayoutEffect(() => {
    if (field.current) field.current.value = value;
  }, [field, value]);
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
  readonly value: string | undefined;
}

function Field({ label, name, value, placeholder }: FieldProps & { readonly placeholder: string }) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useUrlValue(field, value);
  return (
    <div className="search-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        ref={field}
        placeholder={placeholder}
        maxLength={256}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
      />
    </div>
  );
}

type ChoiceProps = FieldProps & { readonly values?: LabelledValues; readonly groups?: typeof FLAGS };

/** An unknown value in the URL is kept as an option, so that the service can report it. */
function Choice({ label, name, value, values = [], groups = [] }: ChoiceProps) {
  const id = useId();
  const select = useRef<HTMLSelectElement>(null);
  useUrlValue(select, value);
  const isKnown = [...values, ...groups.flatMap(([, flags]) => flags)].some(([known]) => known === value);
  return (
    <div className="search-field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name} ref={select}>
        <option value="">Any</option>
        {value !== undefined && !isKnown && <option value={value}>{flagLabels(value).join(' and ')}</option>}
        <Options values={values} />
        {groups.map(([standard, flags]) => (
          <optgroup key={standard} label={standard}>
            <Options values={flags} />
          </optgroup>
        ))}
      </select>
    </div>
  );
}

function Options({ values }: { readonly values: LabelledValues }) {
  return values.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}
