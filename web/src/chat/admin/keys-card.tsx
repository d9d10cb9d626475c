// The keys: list, create and revoke.
import type { AdminKey, AdminKeyPage, CreatedAdminKey } from '@strata/client';
import { useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Button, Command } from '../../ui/controls/button.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { formatDay, formatNumber } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { call, useAdmin, useAdminRefresh } from './admin-client.ts';
import { Read } from './form.tsx';
import { NewKeyForm } from './new-key-form.tsx';
import { limitsText } from './policy-fields.tsx';

/** Keys that the page shows; the API pages through more. */
const MAX_SHOWN = 1_000;

export function KeysCard() {
  const keys = useAdmin<AdminKeyPage>(`keys?limit=${MAX_SHOWN}`);
  const refresh = useAdminRefresh();
  const [created, setCreated] = useState<CreatedAdminKey | null>(null);
  const [revoking, setRevoking] = useState<AdminKey | null>(null);
  const [problem, setProblem] = useState('');
  const revoke = async ({ id }: AdminKey) => {
    setProblem('');
    await call('DELETE', `keys/${id}`).catch((failed: Error) => setProblem(failed.message));
    await refresh();
  };
  return (
    <Card title="Keys">
      <details className="admin-new">
        <summary>Create a key</summary>
        <NewKeyForm
          onCreated={(key) => {
            setCreated(key);
            void refresh();
          }}
        />
      </details>
      {created && (
        <Notice title="The new key is shown only now" actions={<Button onClick={() => setCreated(null)}>Done</Button>}>
          <Command text={created.key} label="Copy key" />
        </Notice>
      )}
      <p role="alert">{problem}</p>
      <Read of={keys} what="keys">
        {({ data }) => (
          <DataTable
            caption="Keys"
            columns={columnsOf(setRevoking)}
            rows={data}
            keyOf={({ id }) => id}
            empty="No keys yet."
          />
        )}
      </Read>
      {keys.data?.next_cursor != null && (
        <p className="small soft">Only the newest {formatNumber(MAX_SHOWN)} keys are shown.</p>
      )}
      {revoking && (
        <Dialog
          title={`Revoke ${revoking.label ?? revoking.id}?`}
          action="Revoke key"
          onClose={(isConfirmed) => {
            setRevoking(null);
            if (isConfirmed) void revoke(revoking);
          }}
        >
          <p>Its requests are refused from now on, and open answers end. This cannot be undone.</p>
        </Dialog>
      )}
    </Card>
  );
}

const columnsOf = (onRevoke: (key: AdminKey) => void): readonly Column<AdminKey>[] => [
  { name: 'Key', value: ({ label, id }) => label ?? id, cell: ({ label, id }) => label ?? <code>{id}</code> },
  { name: 'State', value: stateOf, cell: (key) => <Badge tone={TONES[stateOf(key)]}>{stateOf(key)}</Badge> },
  minor(textColumn('Team', 'team')),
  { name: 'Limits', cell: limitsText },
  minor(textColumn('Expires', 'expires_at', formatDay)),
  minor(textColumn('Created', 'created_at', formatDay)),
  minor(textColumn('Tier', 'tier', (tier, { is_admin }) => (is_admin ? '–' : tier))),
  {
    name: 'Actions',
    cell: (key) =>
      key.revoked_at === null && (
        <Button kind="small" aria-label={`Revoke ${key.label ?? key.id}`} onClick={() => onRevoke(key)}>
          Revoke
        </Button>
      ),
  },
];

const TONES = { active: 'good', admin: 'accent', expired: 'warn', revoked: 'plain' } as const;

function stateOf({ revoked_at, expires_at, is_admin }: AdminKey): keyof typeof TONES {
  if (revoked_at !== null) return 'revoked';
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired';
  return is_admin ? 'admin' : 'active';
}
