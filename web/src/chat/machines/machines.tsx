// The current state of the network: workers with models, load and reputation, and recent events.
import './machines.css';
import { useNow } from '../../ui/ago.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command } from '../../ui/controls/button.tsx';
import { formatAgo, formatClock, formatPeer, formatRounded, formatTime } from '../../ui/formats.ts';
import { Empty, Loading, Notice, Retry } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import type { Answer } from '../conversation/conversation.ts';
import { useConversations } from '../conversation/conversations.ts';
import type { Network } from '../inference.ts';
import { onLink } from '../location.ts';
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
      {network.gateways.length > 1 && (
        <Card title="Gateways" width="half">
          <DataTable
            caption="Gateways"
            columns={GATEWAY_COLUMNS}
            rows={network.gateways}
            keyOf={({ peer }) => peer}
            empty="No gateway is known."
          />
        </Card>
      )}
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
  {
    name: 'Loaded',
    value: ({ loaded }) => loaded,
    cell: ({ loaded, loading }) => (loading > 0 ? `${loaded}, loading on ${loading}` : loaded),
  },
  numberColumn('Slots', 'slots'),
  numberColumn('In use', 'running'),
  numberColumn('Waiting', 'waiting'),
];

const GATEWAY_COLUMNS: readonly Column<Network['gateways'][number]>[] = [
  textColumn('Gateway', 'peer', (peer) => <code title={peer}>{formatPeer(peer)}</code>),
  textColumn('State', 'state', (state) => <Badge tone={state === 'running' ? 'good' : 'bad'}>{state}</Badge>),
  {
    name: 'Connection',
    cell: ({ self, connected }) => (self ? 'this gateway' : connected ? 'connected' : 'not connected'),
  },
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

/** Number of events shown, newest first. */
const MAX_EVENTS = 12;

interface EventEntry {
  readonly key: string;
  readonly at: number;
  readonly text: string;
  /** The conversation of the answer. */
  readonly chat: string | null;
}

function Events({ fleet }: { readonly fleet: Fleet }) {
  const conversations = useConversations();
  const now = useNow(10_000);
  const failovers = conversations.flatMap(({ id, turns }) =>
    turns.flatMap((turn) => (turn.role === 'assistant' ? failoversOf(turn, id) : [])),
  );
  const entries = [
    ...fleet.events.map(({ kind, peer, at }) => ({
      key: `${kind} ${peer} ${at}`,
      at,
      text: `Worker ${formatPeer(peer)} ${kind === 'left' ? 'went offline' : 'joined'}.`,
      chat: null,
    })),
    ...failovers,
  ]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MAX_EVENTS);
  return (
    <Card title="Recent events">
      {entries.length === 0 ? (
        <Empty>No workers have joined or left since this page was opened.</Empty>
      ) : (
        <ol className="lines" aria-live="polite">
          {entries.map(({ key, at, text, chat }) => (
            <li key={key}>
              <time
                className="soft"
                dateTime={new Date(at).toISOString()}
                title={formatAgo(new Date(at).toISOString(), now)}
              >
                {formatClock(at)}
              </time>{' '}
              {text}{' '}
              {chat !== null && (
                <a href={`/?chat=${chat}`} onClick={onLink}>
                  View answer
                </a>
              )}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function failoversOf({ id, askedAt, segments, pauseMs }: Answer, chat: string): EventEntry[] {
  return (segments ?? []).slice(1).map(({ worker, from }, i) => ({
    key: `${id} ${i}`,
    at: askedAt,
    text: `Your answer failed over at token ${from + 1}, from ${formatPeer(segments?.[i]?.worker ?? '')} to ${formatPeer(worker)}${
      pauseMs === null ? '' : `, within ${formatRounded(pauseMs)} ms`
    }.`,
    chat,
  }));
}
