// The filters of the migrations. Each change is a new address.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useId, useState } from 'react';
import { formatName } from '../../ui/formats.ts';
import { EXCLUSIVE } from '../answer/categories.ts';
import { withChanges } from '../search/search-params.ts';
import { useGoals } from '../search/suggestions.ts';
import { EVER, type MigrationFilter, PERIODS, type Period, periodName, wordsOf } from './migration-filter.ts';

interface MigrationFormProps {
  readonly filter: MigrationFilter;
  /** What the provider that is chosen is called. */
  readonly name: string | undefined;
}

export function MigrationForm({ filter, name }: MigrationFormProps) {
  const navigate = useNavigate();
  const change = (part: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      to: '/migrations',
      // Another question, another list: it begins at its beginning.
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
          <option value="out">Away from it</option>
        </select>
      </label>
      <label>
        Confirmed within
        <select
          value={keyOf(filter.period)}
          onChange={({ currentTarget: { value } }) => {
            const period = periods.find((each) => keyOf(each) === value);
            if (period) change(wordsOf(period));
          }}
        >
          {periods.map((period) => (
            <option key={keyOf(period)} value={keyOf(period)}>
              {keyOf(period) === EVER ? 'All that is kept' : periodName(period)}
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
  hours === undefined ? (days === undefined ? EVER : `${days} days`) : `${hours} hours`;

interface ProviderFieldProps {
  readonly value: string;
  /** Undefined for all providers. */
  readonly onChoice: (text: string | undefined) => void;
}

/** Takes effect when it is sent or left, so that no address is made for each letter. */
function ProviderField({ value, onChoice }: ProviderFieldProps) {
  const [text, setText] = useState(value);
  const list = useId();
  useEffect(() => setText(value), [value]);
  const goals = useGoals(text === value ? '' : text);
  const providers = goals.flatMap((goal) => (goal.kind === 'provider' ? [goal] : []));
  const settle = () => {
    const typed = text.trim();
    if (typed === value) return;
    const named = providers.find(({ name }) => name.toLowerCase() === typed.toLowerCase());
    onChoice(named?.provider ?? (typed || undefined));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        settle();
      }}
    >
      <label>
        Provider
        <input
          list={list}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onBlur={settle}
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
