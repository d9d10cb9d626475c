// The form for a new key. Empty fields are no limits.
import type { CreatedAdminKey, NewAdminKey } from '@strata/client';
import { type ComponentProps, useId, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { createKey } from './admin-client.ts';
import { microsIn } from './money.ts';

const EMPTY = {
  label: '',
  models: '',
  team: '',
  expires: '',
  tokens: '',
  spend: '',
  period: 'month',
  tier: 'standard',
};
type Fields = typeof EMPTY;

export function NewKeyForm({ onCreated }: { readonly onCreated: (key: CreatedAdminKey) => void }) {
  const [fields, setFields] = useState(EMPTY);
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const field = (name: keyof Fields) => ({
    value: fields[name],
    onChange: (value: string | undefined) => setFields({ ...fields, [name]: value ?? '' }),
  });
  const submit = async () => {
    setBusy(true);
    try {
      setProblem('');
      onCreated(await createKey(keyOf(fields)));
      setFields(EMPTY);
    } catch (error) {
      setProblem((error as Error).message);
    }
    setBusy(false);
  };
  return (
    <form
      className="admin-form stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <div className="admin-fields">
        <Field label="Label" {...field('label')} maxLength={200} />
        <Field label="Models, comma-separated (not checked)" {...field('models')} />
        <Field label="Team" {...field('team')} />
        <Field label="Expires at the end of (UTC)" type="date" {...field('expires')} />
        <Field label="Tokens a day" inputMode="numeric" pattern="[0-9]{1,12}" {...field('tokens')} />
        <Field label="Spend limit" inputMode="decimal" placeholder="25.50" {...field('spend')} />
        <Select label="Spend period" all={null} options={PERIODS} {...field('period')} />
        <Select label="Tier" all={null} options={TIERS} {...field('tier')} />
      </div>
      <p role="alert">{problem}</p>
      <div className="actions">
        <Button kind="primary" type="submit" disabled={isBusy}>
          Create key
        </Button>
      </div>
    </form>
  );
}

const PERIODS = [
  ['day', 'Day'],
  ['month', 'Month'],
  ['total', 'Total'],
] as const;
const TIERS = [
  ['free', 'Free'],
  ['standard', 'Standard'],
  ['unlimited', 'Unlimited'],
] as const;

interface FieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  readonly label: string;
  readonly onChange: (value: string) => void;
}

function Field({ label, onChange, ...input }: FieldProps) {
  const id = useId();
  return (
    <div className="admin-field">
      <label htmlFor={id}>{label}</label>
      <input {...input} id={id} autoComplete="off" onChange={({ target }) => onChange(target.value)} />
    </div>
  );
}

/** Throws an Error for a field that is not valid; the service validates the rest. */
function keyOf({ label, models, team, expires, tokens, spend, period, tier }: Fields): NewAdminKey {
  const micros = microsIn(spend);
  if (spend.trim() !== '' && !micros) throw new Error('The spend limit is an amount above 0, as 25.50.');
  const names = models.split(',').flatMap((name) => name.trim() || []);
  return {
    // The options of the selects.
    tier: tier as NonNullable<NewAdminKey['tier']>,
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(names.length === 0 ? {} : { models: names }),
    ...(team.trim() === '' ? {} : { team: team.trim() }),
    ...(expires === '' ? {} : { expires_at: `${expires}T23:59:59.999Z` }),
    ...(tokens.trim() === '' ? {} : { tokens_per_day: Number(tokens) }),
    ...(micros ? { spend_limit: { micros, period: period as 'day' | 'month' | 'total' } } : {}),
  };
}
