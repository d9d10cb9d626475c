// The filter of the live page: its form, and from the URL to the request.
import type { EventFilter, StackEvent } from '@strata/client';
import { Link, useNavigate } from '@tanstack/react-router';
import { Button } from '../../ui/controls/button.tsx';
import { CATEGORIES, labelled } from '../links/categories.ts';
import { SelectField, TextField } from '../links/fields.tsx';
import { type Search, withChanges } from '../links/search-params.ts';

const EVENT_TYPES = [
  ['migration', 'Migrations'],
  ['service_change', 'Service changes'],
  ['anomaly', 'Anomalies'],
  ['advisory', 'Advisories'],
] as const satisfies readonly (readonly [StackEvent['type'], string])[];

/** The filter in the URL. The service rejects unknown types and categories. */
export function filterOf({ types, domain, provider, category }: Search): EventFilter {
  return {
    types: types?.split(',').map((type) => type.trim() as StackEvent['type']),
    domain,
    provider,
    category: category as EventFilter['category'],
  };
}

/** The same filter for the list of past events. */
export function queryOf({ types, ...rest }: EventFilter) {
  return { ...rest, types: types?.join(',') };
}

/** All fields are applied together, since each change uses requests. */
export function FilterForm({ search }: { readonly search: Search }) {
  const navigate = useNavigate();
  const types = new Set(search.types?.split(','));
  const submit = (form: FormData) => {
    const chosen = form.getAll('types').map(String);
    const isSubset = chosen.length > 0 && chosen.length < EVENT_TYPES.length;
    const texts = ['domain', 'provider', 'category'].map((name) => [name, String(form.get(name) ?? '').trim()]);
    void navigate({
      to: '/live',
      search: withChanges({ types: isSubset ? chosen.join(',') : '' }, Object.fromEntries(texts)),
    });
  };
  return (
    // The URL is the source of truth: a new URL resets the form.
    <form
      key={JSON.stringify(search)}
      className="fields"
      onSubmit={(event) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      <fieldset className="row">
        <legend>Event types</legend>
        {EVENT_TYPES.map(([type, name]) => (
          <label key={type} className="check">
            <input type="checkbox" name="types" value={type} defaultChecked={types.size === 0 || types.has(type)} />
            {name}
          </label>
        ))}
      </fieldset>
      <TextField label="Domain" name="domain" value={search.domain} />
      <TextField label="Provider" name="provider" value={search.provider} />
      <SelectField label="Category" name="category" value={search.category} options={labelled(CATEGORIES)} />
      <div className="actions">
        <Button kind="primary" type="submit">
          Apply
        </Button>
        {Object.keys(search).length > 0 && (
          <Link to="/live" search={{}} className="button">
            Clear filters
          </Link>
        )}
      </div>
    </form>
  );
}
