// The filters of the migrations. Each change is a new address.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { formatName } from '../../ui/formats.ts';
import { EXCLUSIVE } from '../categories.ts';
import { type MigrationFilter, WINDOW_DAYS } from './migration-filter.ts';

interface MigrationFormProps {
  readonly filter: MigrationFilter;
  /** Ids and names to choose from. */
  readonly providers: readonly (readonly [string, string])[];
}

export function MigrationForm({ filter, providers }: MigrationFormProps) {
  const navigate = useNavigate();
  const change = (part: Readonly<Record<string, string | undefined>>) =>
    void navigate({
      to: '/migrations',
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, ...part }).flatMap(([name, value]) => (value ? [[name, value]] : [])),
        ),
      resetScroll: false,
    });
  return (
    <div className="market-form">
      <label>
        Category
        <select value={filter.category ?? ''} onChange={(event) => change({ category: event.target.value })}>
          <option value="">All</option>
          {EXCLUSIVE.map((category) => (
            <option key={category} value={category}>
              {formatName(category)}
            </option>
          ))}
        </select>
      </label>
      <ProviderField
        value={nameOf(filter.provider, providers)}
        providers={providers}
        onChoice={(text) => change({ provider: idOf(text, providers), other: undefined })}
      />
      <label>
        Direction
        <select
          value={filter.direction ?? ''}
          disabled={filter.provider === undefined}
          onChange={(event) => change({ direction: event.target.value })}
        >
          <option value="">Both</option>
          <option value="in">To this provider</option>
          <option value="out">Away from it</option>
        </select>
      </label>
      <label>
        Period
        <select
          value={filter.isRecent ? String(WINDOW_DAYS) : ''}
          onChange={(event) => change({ days: event.target.value })}
        >
          <option value="">All that is kept</option>
          <option value={WINDOW_DAYS}>The last {WINDOW_DAYS} days</option>
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

interface ProviderFieldProps {
  readonly value: string;
  readonly providers: MigrationFormProps['providers'];
  readonly onChoice: (text: string) => void;
}

/** Takes effect when it is sent or left, so that no address is made for each letter. */
function ProviderField({ value, providers, onChoice }: ProviderFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const settle = () => {
    if (text.trim() !== value) onChoice(text.trim());
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
          list="migration-providers"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onBlur={settle}
          placeholder="All"
          autoComplete="off"
          spellCheck={false}
        />
      </label>
      <datalist id="migration-providers">
        {providers.map(([id, name]) => (
          <option key={id} value={name} />
        ))}
      </datalist>
    </form>
  );
}

function idOf(text: string, providers: MigrationFormProps['providers']): string {
  const wanted = text.toLowerCase();
  return providers.find(([id, name]) => id === wanted || name.toLowerCase() === wanted)?.[0] ?? text;
}

/** The name of a provider's id, where it is known. */
export function nameOf(word: string | undefined, providers: MigrationFormProps['providers']): string {
  return providers.find(([id]) => id === word)?.[1] ?? word ?? '';
}
