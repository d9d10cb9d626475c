// The event filter. All fields are applied together, since each change uses requests.
import { Link, useNavigate } from '@tanstack/react-router';
import { formatName } from '../../ui/formats.ts';
import { CATEGORIES } from '../answer/categories.ts';
import { EVENT_TYPES } from './event-filter.ts';

export function FilterForm({ search }: { readonly search: Readonly<Record<string, string>> }) {
  const navigate = useNavigate();
  const types = new Set(search.types?.split(','));
  const submit = (form: FormData) => {
    const chosen = form.getAll('types').map(String);
    const entries = ['domain', 'provider', 'category'].flatMap((name) => {
      const value = String(form.get(name) ?? '').trim();
      return value === '' ? [] : [[name, value] as const];
    });
    const isSubset = chosen.length > 0 && chosen.length < EVENT_TYPES.length;
    void navigate({
      to: '/live',
      search: { ...(isSubset ? { types: chosen.join(',') } : {}), ...Object.fromEntries(entries) },
    });
  };
  return (
    // The URL is the source of truth: a new URL resets the form.
    <form
      key={JSON.stringify(search)}
      className="live-filter"
      onSubmit={(event) => {
        event.preventDefault();
        submit(new FormData(event.currentTarget));
      }}
    >
      <fieldset>
        <legend>Event types</legend>
        {EVENT_TYPES.map(([type, name]) => (
          <label key={type}>
            <input type="checkbox" name="types" value={type} defaultChecked={types.size === 0 || types.has(type)} />
            {name}
          </label>
        ))}
      </fieldset>
      <label>
        Domain
        <input name="domain" defaultValue={search.domain} autoComplete="off" spellCheck={false} />
      </label>
      <label>
        Provider
        <input name="provider" defaultValue={search.provider} autoComplete="off" spellCheck={false} />
      </label>
      <label>
        Category
        <select name="category" defaultValue={search.category ?? ''}>
          <option value="">Any</option>
          {CATEGORIES.map((category) => (
            <option key={category} value={category}>
              {formatName(category)}
            </option>
          ))}
        </select>
      </label>
      <div className="actions">
        <button className="button primary" type="submit">
          Apply
        </button>
        {Object.keys(search).length > 0 && (
          <Link to="/live" search={{}} className="button">
            Clear filters
          </Link>
        )}
      </div>
    </form>
  );
}
