// The filter form of the migrations page. Each change is a new URL.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import { formatName } from '../../ui/formats.ts';
import { EXCLUSIVE } from '../answer/categories.ts';
import { withChanges } from '../search/search-params.ts';
import { useSuggestions } from '../search/suggestions.ts';
import {
  ALL_TIME,
  type MigrationFilter,
  PERIODS,
  type Period,
  periodName,
  searchParamsOf,
} from './migration-filter.ts';

interface MigrationFormProps {
  readonly filter: MigrationFilter;
  /** The name of the selected provider. */
  readonly name: string | undefined;
}

export function MigrationForm({ filter, name }: MigrationFormProps) {
  const navigate = useNavigate();
  const change = (part: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      to: '/migrations',
      // A changed filter starts at the first page.
      search: (before) => withChanges(before, { offset: undefined, ...part }),
      resetScroll: false,
    });
  const periods = PERIODS.some((period) => keyOf(period) === keyOf(filter.period))
    ? PERIODS
    : [filter.period, ...PERIODS];
  return (
    <div className="market-form">
      <label>
        Category
        <select
          value={filter.category ?? ''}
          onChange={(event) => change({ category: event.currentTarget.value || undefined })}
        >
          <option value="">All</option>
          {EXCLUSIVE.map((category) => (
            <option key={category} value={category}>
              {formatName(category)}
            </option>
          ))}
        </select>
      </label>
      <ProviderField
        value={name ?? filter.provider ?? ''}
        onChoice={(provider) => change({ provider, other: undefined, ...(provider ? {} : { direction: undefined }) })}
      />
      <label>
        Direction
        <select
          value={filter.direction ?? ''}
          disabled={filter.provider === undefined}
          onChange={(event) => change({ direction: event.currentTarget.value || undefined })}
        >
          <option value="">Both</option>
          <option value="in">To this provider</option>
          <option value="out">From this provider</option>
        </select>
      </label>
      <label>
        Confirmed within
        <select
          value={keyOf(filter.period)}
          onChange={({ currentTarget: { value } }) => {
            const period = periods.find((each) => keyOf(each) === value);
            if (period) change(searchParamsOf(period));
          }}
        >
          {periods.map((period) => (
            <option key={keyOf(period)} value={keyOf(period)}>
              {keyOf(period) === ALL_TIME ? 'All time' : periodName(period)}
            </option>
          ))}
        </select>
      </label>
      <button
        className="button"
        type="button"
        onClick={() => void navigate({ to: '/migrations', search: {}, resetScroll: false })}
      >
        Clear
      </button>
    </div>
  );
}

const keyOf = ({ days, hours }: Period): string =>
  hours === undefined ? (days === undefined ? ALL_TIME : `${days} days`) : `${hours} hours`;

interface ProviderFieldProps {
  readonly value: string;
  /** Undefined for all providers. */
  readonly onChoice: (text: string | undefined) => void;
}

/** Applied on submit or blur, so that typing does not change the URL. */
function ProviderField({ value, onChoice }: ProviderFieldProps) {
  const [text, setText] = useState(value);
  const list = useId();
  useEffect(() => setText(value), [value]);
  const suggestions = useSuggestions(text === value ? '' : text);
  const providers = suggestions.flatMap((suggestion) => (suggestion.kind === 'provider' ? [suggestion] : []));
  const apply = () => {
    const typed = text.trim();
    if (typed === value) return;
    const named = providers.find(({ name }) => name.toLowerCase() === typed.toLowerCase());
    onChoice(named?.provider ?? (typed || undefined));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <label>
        Provider
        <input
          list={list}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onBlur={apply}
          placeholder="All"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <datalist id={list}>
        {providers.map(({ provider, name }) => (
          <option key={provider} value={name} />
        ))}
      </datalist>
    </form>
  );
}
