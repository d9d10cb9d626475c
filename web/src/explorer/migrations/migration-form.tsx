// The filter form of the migrations page. Each change is a new URL.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { type Option, Select } from '../../ui/controls/select.tsx';
import { EXCLUSIVE, labelled } from '../links/categories.ts';
import { Parameter } from '../links/parameter.tsx';
import { changed, type Search } from '../links/search-params.ts';
import { useSuggestions } from '../search/suggestions.ts';
import {
  ALL_TIME,
  type MigrationFilter,
  PERIODS,
  type Period,
  periodName,
  searchParamsOf,
} from './migration-filter.ts';

const DIRECTIONS: readonly Option[] = [
  ['in', 'To this provider'],
  ['out', 'From this provider'],
];

interface MigrationFormProps {
  readonly filter: MigrationFilter;
  /** The name of the selected provider. */
  readonly name: string | undefined;
}

export function MigrationForm({ filter, name }: MigrationFormProps) {
  const navigate = useNavigate();
  const change = (changes: Search) => void navigate(changed(changes));
  const own = keyOf(filter.period);
  const periods = PERIODS.some((period) => keyOf(period) === own) ? PERIODS : [filter.period, ...PERIODS];
  return (
    <div className="fields">
      <Parameter label="Category" name="category" options={labelled(EXCLUSIVE)} />
      <ProviderField
        value={name ?? filter.provider ?? ''}
        onChoice={(provider) => change({ provider, other: undefined, ...(provider ? {} : { direction: undefined }) })}
      />
      <Parameter
        label="Direction"
        name="direction"
        options={DIRECTIONS}
        all="Both"
        isDisabled={filter.provider === undefined}
      />
      <Select
        label="Confirmed within"
        value={own}
        options={periods.map((period) => [keyOf(period), nameOf(period)])}
        all={null}
        onChange={(value) => {
          const period = periods.find((each) => keyOf(each) === value);
          if (period) change(searchParamsOf(period));
        }}
      />
      <Button onClick={() => void navigate({ to: '/migrations', search: {}, resetScroll: false })}>Clear</Button>
    </div>
  );
}

const keyOf = (period: Period): string => JSON.stringify(searchParamsOf(period));
const nameOf = (period: Period): string => (searchParamsOf(period).days === ALL_TIME ? 'All time' : periodName(period));

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
  const providers = useSuggestions(text === value ? '' : text).filter(({ kind }) => kind === 'provider');
  const apply = (event?: FormEvent) => {
    event?.preventDefault();
    const typed = text.trim();
    if (typed === value) return;
    const named = providers.find(({ name }) => name.toLowerCase() === typed.toLowerCase());
    onChoice(named?.id ?? (typed || undefined));
  };
  return (
    <form onSubmit={apply}>
      <label className="field">
        Provider
        <input
          list={list}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onBlur={() => apply()}
          placeholder="All"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <datalist id={list}>
        {providers.map(({ id, name }) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </form>
  );
}
