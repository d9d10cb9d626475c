// The network as it is now: who lends what, how busy they are, how far they are trusted and why, and who came and went.
import './machines.css';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command } from '../../ui/command.tsx';
import { formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty, Loading, Notice } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import type { Network } from '../inference.ts';
import { Events } from './machine-events.tsx';
import { Workers } from './machine-workers.tsx';
import type { Fleet } from './observed-fleet.ts';
import { shortPeer } from './peer-name.ts';
import { useFleet, useNetwork } from './use-network.ts';

export function Machines() {
  const { data, error, isPending, refetch } = useNetwork({ isWatching: true });
  const fleet = useFleet();
  return (
    <>
      <header className="chat-machines-head">
        <div>
          <h1>Machines</h1>
          <p className="soft">Who lends their machine to this service, what they have, and how far they are trusted.</p>
        </div>
        <p className="small soft" role="status">
          {error ? 'The service cannot be reached; what stands here was so last.' : 'Looked at every two seconds.'}
        </p>
      </header>
      {data ? (
        <Report network={data} fleet={fleet} />
      ) : data === null ? (
        <Notice title="This service has an engine of its own, and no network">
          <p>No machines are lent to it; all answers are made where it runs.</p>
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
          <p>Either you are offline or it is not running. It is asked again every two seconds.</p>
        </Notice>
      )}
    </>
  );
}

function Report({ network, fleet }: { readonly network: Network; readonly fleet: Fleet }) {
  const { totals, models, audits } = network;
  return (
    <div className="cards">
      <Card title="Now">
        <Figures>
          <Figure name="Workers">{formatNumber(totals.workers)}</Figure>
          <Figure name="Models">{formatNumber(totals.models)}</Figure>
          <Figure name="Answers at a time" note="places of all workers">
            {formatNumber(totals.slots)}
          </Figure>
          <Figure name="Being written">{formatNumber(totals.running)}</Figure>
          <Figure name="Waiting">{formatNumber(totals.waiting)}</Figure>
        </Figures>
      </Card>
      <Workers network={network} fleet={fleet} />
      <Events fleet={fleet} />
      <Card title="Models" width="half">
        {models.length === 0 ? (
          <Empty>No model is lent just now.</Empty>
        ) : (
          <DataTable caption="Models" columns={MODEL_COLUMNS} rows={models} keyOf={({ id }) => id} />
        )}
      </Card>
      <Card title="Audits" width="half">
        {audits.length === 0 ? (
          <Empty>None yet: of a newcomer's answers a fifth is looked at, once there are some.</Empty>
        ) : (
          <DataTable
            caption="The last audits"
            columns={AUDIT_COLUMNS}
            rows={audits.map((audit, i) => ({ ...audit, id: `${audit.at} ${i}` }))}
            keyOf={({ id }) => id}
          />
        )}
      </Card>
      <Card title="The same as JSON">
        <Command text={`curl ${location.origin}/network`} />
      </Card>
    </div>
  );
}

const MODEL_COLUMNS: readonly Column<Network['models'][number]>[] = [
  { name: 'Model', value: ({ id }) => id, cell: ({ id }) => id },
  { name: 'Workers', isNumber: true, value: ({ workers }) => workers, cell: ({ workers }) => formatNumber(workers) },
  { name: 'Places', isNumber: true, value: ({ slots }) => slots, cell: ({ slots }) => formatNumber(slots) },
  { name: 'Busy', isNumber: true, value: ({ running }) => running, cell: ({ running }) => formatNumber(running) },
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
  { name: 'When', value: ({ at }) => at, cell: ({ at }) => formatTime(at) },
  { name: 'What', cell: ({ kind }) => (kind === 'answer' ? 'an answer' : 'a verifier') },
  {
    name: 'Worker',
    value: ({ worker }) => worker,
    cell: ({ worker }) => <code title={worker}>{shortPeer(worker)}</code>,
  },
  {
    name: 'Found',
    value: ({ outcome }) => outcome,
    cell: ({ outcome }) => <Badge tone={OUTCOME_TONES[outcome] ?? 'plain'}>{outcome}</Badge>,
  },
];
