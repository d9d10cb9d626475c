// The log of administration: who has changed what and when, newest first.
import type { AuditPage } from '@strata/client';
import { Card } from '../../ui/card/card.tsx';
import { formatTime } from '../../ui/formats.ts';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { useAdmin } from './admin-client.ts';
import { Read } from './form.tsx';

type Action = AuditPage['data'][number];

export function AuditCard() {
  const log = useAdmin<AuditPage>('audit');
  return (
    <Card title="Changes" foot={<p className="small soft">The last 100; the API has those of 400 days.</p>}>
      <Read of={log} what="changes">
        {({ data }) => (
          <DataTable
            caption="Changes"
            columns={COLUMNS}
            rows={data}
            keyOf={({ at, actor, action, target }) => `${at} ${actor} ${action} ${target}`}
            empty="No changes yet."
          />
        )}
      </Read>
    </Card>
  );
}

const COLUMNS: readonly Column<Action>[] = [
  textColumn('Time', 'at', formatTime),
  textColumn('Action', 'action'),
  textColumn('Target', 'target'),
  minor(textColumn('By', 'actor')),
  minor({ name: 'Change', cell: changeText }),
];

/** The fields that have another value than before. */
function changeText({ before, after }: Action): string {
  const changed = Object.entries(after ?? {}).flatMap(([name, value]) => {
    const [old, text] = [before?.[name] ?? null, value].map((of) => JSON.stringify(of));
    return text === old ? [] : `${name}: ${text}`;
  });
  return changed.join(', ') || '–';
}
