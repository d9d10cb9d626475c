// The form for a new key.
import type { CreatedAdminKey, NewAdminKey } from '@strata/client';
import { Button } from '../../ui/controls/button.tsx';
import { Select } from '../../ui/controls/select.tsx';
import { createKey } from './admin-client.ts';
import { Field, useFields, useForm } from './form.tsx';
import { LimitFields, limitsIn, NO_LIMITS } from './policy-fields.tsx';

const EMPTY = { ...NO_LIMITS, label: '', team: '', expires: '', tier: 'standard' };

export function NewKeyForm({ onCreated }: { readonly onCreated: (key: CreatedAdminKey) => void }) {
  const { fields, field, clear } = useFields(EMPTY);
  const { form, isBusy, alert } = useForm(async () => {
    onCreated(await createKey(keyOf(fields)));
    clear();
  });
  return (
    <form {...form}>
      <div className="admin-fields">
        <Field label="Label" {...field('label')} maxLength={200} />
        <Field label="Team" {...field('team')} />
        <Field label="Expires at the end of (UTC)" type="date" {...field('expires')} />
        <LimitFields field={field} />
        <Select label="Tier" all={null} options={TIERS} {...field('tier')} />
      </div>
      {alert}
      <div className="actions">
        <Button kind="primary" type="submit" disabled={isBusy}>
          Create key
        </Button>
      </div>
    </form>
  );
}

const TIERS = [
  ['free', 'Free'],
  ['standard', 'Standard'],
  ['unlimited', 'Unlimited'],
] as const;

function keyOf({ label, team, expires, tier, ...limits }: typeof EMPTY): NewAdminKey {
  return {
    // The options of the select.
    tier: tier as NonNullable<NewAdminKey['tier']>,
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(team.trim() === '' ? {} : { team: team.trim() }),
    ...(expires === '' ? {} : { expires_at: `${expires}T23:59:59.999Z` }),
    ...limitsIn(limits),
  };
}
