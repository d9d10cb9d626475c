// The current state of the network: workers with models, load and reputation, and recent events.
import './machines.css';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command } from '../../ui/command.tsx';
import { formatNumber, formatPeer, formatTime } from '../../ui/formats.ts';
import { Empty, Loading, Notice } from '../../ui/states.tsx';
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
      <header className="chat-machines-head">
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
        <Loading lines={8} />
      ) : (
        <Notice
          title="The service cannot be reached"
          tone="warn"
          actions={
            <button className="button" type="button" onClick={() => void refetch()}>
              Try again
            </button>
          }
        >
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
          <Figure name="Workers">{formatNumber(totals.workers)}</Figure>
          <Figure name="Models">{formatNumber(totals.models)}</Figure>
          <Figure name="Slots" note="of all workers">
            {formatNumber(totals.slots)}
          </Figure>
          <Figure name="Running">{formatNumber(totals.running)}</Figure>
          <Figure name="Waiting">{formatNumber(totals.waiting)}</Figure>
        </Figures>
      </Card>
      <Workers network={network} fleet={fleet} />
      <Events fleet={fleet} />
      <Card title="Models" width="half">
        {models.length === 0 ? (
          <Empty>No model is available.</Empty>
        ) : (
          <DataTable caption="Models" columns={MODEL_COLUMNS} rows={models} keyOf={({ id }) => id} />
        )}
      </Card>
      <Card title="Audits" width="half">
        {audits.length === 0 ? (
          <Empty>No audits yet. 20% of the answers of a new worker are audited.</Empty>
        ) : (
          <DataTable
            caption="Recent audits"
            columns={AUDIT_COLUMNS}
            rows={audits.map((audit, i) => ({ ...audit, id: `${audit.at} ${i}` }))}
            keyOf={({ id }) => id}
          />
        )}
      </Card>
      <Card title="Get this data as JSON">
        <Command text={`curl ${location.origin}/network`} />
      </Card>
    </div>
  );
}

const MODEL_COLUMNS: readonly Column<Network['models'][number]>[] = [
  { name: 'Model', value: ({ id }) => id, cell: ({ id }) => id },
  { name: 'Workers', isNumber: true, value: ({ workers }) => workers, cell: ({ workers }) => formatNumber(workers) },
  { name: 'Slots', isNumber: true, value: ({ slots }) => slots, cell: ({ slots }) => formatNumber(slots) },
  { name: 'In use', isNumber: true, value: ({ running }) => running, cell: ({ running }) => formatNumber(running) },
  { name: 'Waiting', isNumber: true, value: ({ waiting }) => waiting, cell: ({ waiting }) => formatNumber(waiting) },
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
  { name: 'Time', value: ({ at }) => at, cell: ({ at }) => formatTime(at) },
  { name: 'Subject', cell: ({ kind }) => (kind === 'answer' ? 'answer' : 'verifier') },
  {
    name: 'Worker',
    value: ({ worker }) => worker,
    cell: ({ worker }) => <code title={worker}>{formatPeer(worker)}</code>,
  },
  {
    name: 'Outcome',
    value: ({ outcome }) => outcome,
    cell: ({ outcome }) => <Badge tone={OUTCOME_TONES[outcome] ?? 'plain'}>{outcome}</Badge>,
  },
];
