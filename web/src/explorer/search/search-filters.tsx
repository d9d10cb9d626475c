// The filters of the search, with the words of the API said in full.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, type RefObject, useId, useLayoutEffect, useRef } from 'react';
import { CATEGORIES } from '../answer/categories.ts';
import { SECTORS } from '../answer/sectors.ts';
import { CONFIDENCES, FLAGS, marksInWords, named, STATES, type Words } from './labels.ts';
import { conditionsOf, type SearchState } from './search-narrowed.tsx';
import { withChanges } from './search-params.ts';

interface FiltersProps {
  readonly filters: SearchState;
  readonly onApply: (filters: Record<string, string>) => void;
}

/** Applied together, since each search costs a request; conditions that have no field here stay. */
export function Filters({ filters, onApply }: FiltersProps) {
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = [...new FormData(event.currentTarget)].map(([name, value]) => [name, String(value).trim()]);
    const asked: Record<string, string> = Object.fromEntries(given);
    // One confidence goes before the least one.
    const min = asked.confidence ? { min_confidence: '' } : {};
    onApply(withChanges({ ...conditionsOf(filters), ...min }, asked));
  };
  const clear = () => {
    form.current?.reset();
    void navigate({ to: '/search', search: {} });
  };
  return (
    <form ref={form} className="card search-filters" onSubmit={apply} aria-label="Filters">
      <Field label="Part of the name" name="q" value={filters.q} placeholder="shop" />
      <Field label="Provider" name="provider" value={filters.provider} placeholder="Cloudflare" />
      <Choice label="Category" name="category" value={filters.category} words={named(...CATEGORIES)} />
      <Choice label="Confidence" name="confidence" value={filters.confidence} words={CONFIDENCES} />
      <Choice label="Sector" name="sector" value={filters.sector} words={named(...SECTORS)} />
      <Choice label="State" name="state" value={filters.state} words={STATES} />
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

/** Shows what the address says whenever that changes; the reader's own words stay until then, and the focus where it is. */
function useShown(field: RefObject<HTMLInputElement | HTMLSelectElement | null>, value = ''): void {
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
  useShown(field, value);
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

type ChoiceProps = FieldProps & { readonly words?: Words; readonly groups?: typeof FLAGS };

/** A value of the address that is none of the words stands as it is, so that the service can say so. */
function Choice({ label, name, value, words = [], groups = [] }: ChoiceProps) {
  const id = useId();
  const select = useRef<HTMLSelectElement>(null);
  useShown(select, value);
  const isKnown = [...words, ...groups.flatMap(([, found]) => found)].some(([word]) => word === value);
  return (
    <div className="search-field">
      <label htmlFor={id}>{label}</label>
      <select id={id} name={name} ref={select}>
        <option value="">Any</option>
        {value !== undefined && !isKnown && <option value={value}>{marksInWords(value).join(' and ')}</option>}
        <Options words={words} />
        {groups.map(([standard, found]) => (
          <optgroup key={standard} label={standard}>
            <Options words={found} />
          </optgroup>
        ))}
      </select>
    </div>
  );
}

function Options({ words }: { readonly words: Words }) {
  return words.map(([value, text]) => (
    <option key={value} value={value}>
      {text}
    </option>
  ));
}
