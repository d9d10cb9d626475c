// The current state of the network: workers with models, load and reputation, and recent events.
import './machines.css';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command } from '../../ui/controls/button.tsx';
import { formatPeer, formatTime } from '../../ui/formats.ts';
import { Loading, Notice, Retry } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import type { Network } from '../inference.ts';
import { Events } from './machine-events.tsx';
import { Workers } from './machine-workers.tsx';
import type { Fleet } from './observed-fleet.ts';
import { useFleet, useNetwork } from './use-network.ts';

export function Machines() {
  const { data, error, isPending, refetch } = useNetwork({ isWatching: true });
  const fleet = useFleet();
  return (
    <>
      <header className="page-head">
        <div>
          <h1>Machines</h1>
          <p className="soft">
            The workers that contribute hardware to this service, their models, load and reputation.
          </p>
        </div>
        <p className="small soft" role="status">
          {error ? 'The service cannot be reached. The last known state is shown.' : 'Updated every two seconds.'}
        </p>
      </header>
      {data ? (
        <Report network={data} fleet={fleet} />
      ) : data === null ? (
        <Notice title="This service has no worker network">
          <p>It generates all answers with its own engine.</p>
        </Notice>
      ) : isPending && !error ? (
        <Loading />
      ) : (
        <Notice title="The service cannot be reached" tone="warn" actions={<Retry onRetry={() => void refetch()} />}>
          <p>You are offline, or the service is not running. This page retries every two seconds.</p>
        </Notice>
      )}
    </>
  );
}

function Report({ network, fleet }: { readonly network: Network; readonly fleet: Fleet }) {
  const { totals, models, audits } = network;
  return (
    <div className="cards">
      <Card title="Current load">
        <Figures>
          <Figure name="Workers" value={totals.workers} />
          <Figure name="Models" value={totals.models} />
          <Figure name="Slots" value={totals.slots} note="of all workers" />
          <Figure name="Running" value={totals.running} />
          <Figure name="Waiting" value={totals.waiting} />
        </Figures>
      </Card>
      <Workers network={network} fleet={fleet} />
      <Events fleet={fleet} />
      <Card title="Models" width="half">
        <DataTable
          caption="Models"
          columns={MODEL_COLUMNS}
          rows={models}
          keyOf={({ id }) => id}
          empty="No model is available."
        />
      </Card>
      <Card title="Audits" width="half">
        <DataTable
          caption="Recent audits"
          columns={AUDIT_COLUMNS}
          rows={audits.map((audit, i) => ({ ...audit, id: `${audit.at} ${i}` }))}
          keyOf={({ id }) => id}
          empty="No audits yet. 20% of the answers of a new worker are audited."
        />
      </Card>
      <Card title="Get this data as JSON">
        <Command text={`curl ${location.origin}/network`} />
      </Card>
    </div>
  );
}

const MODEL_COLUMNS: readonly Column<Network['models'][number]>[] = [
  textColumn('Model', 'id'),
  numberColumn('Workers', 'workers'),
  numberColumn('Slots', 'slots'),
  numberColumn('In use', 'running'),
  numberColumn('Waiting', 'waiting'),
];

type AuditRow = Network['audits'][number] & { readonly id: string };

const OUTCOME_TONES: Readonly<Record<string, Tone>> = {
  clean: 'good',
  passed: 'good',
  deviating: 'warn',
  failed: 'bad',
  proof: 'bad',
};

const AUDIT_COLUMNS: readonly Column<AuditRow>[] = [
  textColumn('Time', 'at', formatTime),
  { name: 'Subject', cell: ({ kind }) => (kind === 'answer' ? 'answer' : 'verifier') },
  textColumn('Worker', 'worker', (worker) => <code title={worker}>{formatPeer(worker)}</code>),
  textColumn('Outcome', 'outcome', (outcome) => <Badge tone={OUTCOME_TONES[outcome] ?? 'plain'}>{outcome}</Badge>),
];
