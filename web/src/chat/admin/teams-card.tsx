// Teams, which limit all of their keys together: list, create, replace the limits, and remove.
import type { Team } from '@strata/client';
import { useState } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { formatDay } from '../../ui/formats.ts';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { call, useAdmin, useAdminRefresh } from './admin-client.ts';
import { Field, Read, useFields, useForm } from './form.tsx';
import { LimitFields, limitsIn, limitsText, NO_LIMITS } from './policy-fields.tsx';

export function TeamsCard() {
  const teams = useAdmin<{ readonly data: readonly Team[] }>('teams');
  const refresh = useAdminRefresh();
  const { fields, field, clear } = useFields({ ...NO_LIMITS, name: '' });
  const [removing, setRemoving] = useState<string | null>(null);
  const [problem, setProblem] = useState('');
  const { form, isBusy, alert } = useForm(async () => {
    const { name, ...limits } = fields;
    await call('PUT', `teams/${encodeURIComponent(name.trim())}`, limitsIn(limits));
    clear();
    await refresh();
  });
  const remove = async (name: string) => {
    setProblem('');
    await call('DELETE', `teams/${name}?revoke_keys=true`).catch((failed: Error) => setProblem(failed.message));
    await refresh();
  };
  return (
    <Card title="Teams">
      <details className="admin-new">
        <summary>Create a team, or replace its limits</summary>
        <form {...form}>
          <div className="admin-fields">
            <Field
              label="Name of the team"
              required
              pattern="[a-z0-9][a-z0-9._\-]*"
              maxLength={63}
              {...field('name')}
            />
            <LimitFields field={field} />
          </div>
          {alert}
          <div className="actions">
            <Button kind="primary" type="submit" disabled={isBusy}>
              Set limits
            </Button>
          </div>
        </form>
      </details>
      <p role="alert">{problem}</p>
      <Read of={teams} what="teams">
        {({ data }) => (
          <DataTable
            caption="Teams"
            columns={columnsOf(setRemoving)}
            rows={data}
            keyOf={({ id }) => id}
            empty="No teams yet."
          />
        )}
      </Read>
      {removing !== null && (
        <Dialog
          title={`Remove ${removing}?`}
          action="Remove team"
          onClose={(isConfirmed) => {
            setRemoving(null);
            if (isConfirmed) void remove(removing);
          }}
        >
          <p>Its keys are revoked, which cannot be undone. Its usage stays.</p>
        </Dialog>
      )}
    </Card>
  );
}

const columnsOf = (onRemove: (name: string) => void): readonly Column<Team>[] => [
  textColumn('Name', 'id'),
  { name: 'Limits', cell: limitsText },
  minor(textColumn('Created', 'created_at', formatDay)),
  {
    name: 'Actions',
    cell: ({ id }) => (
      <Button kind="small" aria-label={`Remove team ${id}`} onClick={() => onRemove(id)}>
        Remove
      </Button>
    ),
  },
];
