// The workers: offered models, load, and reputation with its reason. Workers that went offline are shown for a while.
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import {
  formatClock,
  formatCount,
  formatDecimal,
  formatNumber,
  formatPeer,
  formatShare,
  formatTime,
} from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import type { Network, Peer } from '../inference.ts';
import type { Fleet } from './observed-fleet.ts';

interface Row {
  readonly peer: Peer;
  readonly offlineSince: number | null;
  readonly reason: string;
}

export function Workers({ network, fleet }: { readonly network: Network; readonly fleet: Fleet }) {
  const connected = network.peers.filter(({ role, connected_since }) => role === 'worker' && connected_since !== null);
  const rows: readonly Row[] = [
    ...connected.map((peer) => ({ peer, offlineSince: null, reason: reasonOf(peer, network.audits) })),
    // A worker may be in both: the fleet is updated slightly earlier than the report.
    ...fleet.offline
      .filter(({ peer }) => !connected.some((one) => one.peer === peer.peer))
      .map(({ peer, at }) => ({ peer, offlineSince: at, reason: '' })),
  ];
  const otherPeers = network.peers.length - connected.length;
  return (
    <Card title="Workers">
      <div className="chat-workers">
        <DataTable
          caption="Workers"
          columns={WORKER_COLUMNS}
          rows={rows}
          keyOf={({ peer: { peer } }) => peer}
          empty={
            <>
              No worker is connected. Start one with <code>npx strata inference worker</code>.
            </>
          }
        />
      </div>
      {otherPeers > 0 && (
        <p className="small soft">{formatNumber(otherPeers)} other known peers are not connected or are not workers.</p>
      )}
    </Card>
  );
}

const WORKER_COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Worker',
    value: ({ peer: { peer } }) => peer,
    cell: ({ peer, offlineSince }) => (
      <>
        <code title={peer.peer}>{formatPeer(peer.peer)}</code>{' '}
        {offlineSince === null ? <Badge tone="good">online</Badge> : <Badge tone="bad">offline</Badge>}
        <span className="small soft block">
          {offlineSince === null ? `since ${formatTime(peer.connected_since)}` : `since ${formatClock(offlineSince)}`}
        </span>
      </>
    ),
  },
  {
    name: 'Models',
    cell: ({ peer: { models, software } }) => (
      <>
        {models.map(({ name, sha256, quantisation, context_length, loaded, loading, verified }) => (
          <span key={sha256} className="block">
            {name} <span className="small soft">{`${quantisation}, context ${formatNumber(context_length)}`}</span>{' '}
            <Badge tone={verified.level === 'claimed' ? 'warn' : 'good'}>{verified.level}</Badge>{' '}
            {loading ? <Badge tone="warn">loading</Badge> : !loaded && <Badge tone="plain">not loaded</Badge>}
            <span className="small soft block narrow">{verified.reason}</span>
          </span>
        ))}
        <span className="small soft block">{software}</span>
      </>
    ),
  },
  numberColumn(
    'Model memory',
    ({ peer }) => peer.memory?.held_bytes ?? null,
    (_held, { peer: { memory } }) =>
      memory ? `${formatDecimal(memory.held_bytes / 1e9)} of ${formatDecimal(memory.budget_bytes / 1e9)} GB` : '–',
  ),
  numberColumn('Tokens/s', ({ peer }) => speedOf(peer)),
  {
    name: 'Slots in use',
    value: ({ peer }) => peer.running,
    cell: ({ peer, offlineSince }) => (offlineSince === null ? <Busy peer={peer} /> : '–'),
  },
  numberColumn(
    'Round trip',
    ({ peer, offlineSince }) => (offlineSince === null ? peer.round_trip_ms : null),
    (ms) => (ms === null ? '–' : `${formatNumber(ms)} ms`),
  ),
  {
    name: 'Reputation',
    value: ({ peer }) => peer.standing?.trust ?? null,
    cell: ({ peer: { standing }, offlineSince, reason }) =>
      standing && offlineSince === null ? (
        <>
          <Badge tone={TONES[standing.state] ?? 'plain'}>{standing.state}</Badge>{' '}
          <span className="small">trust {formatShare(standing.trust)}</span>
          <span className="small soft block narrow">{reason}</span>
        </>
      ) : (
        '–'
      ),
  },
];

function Busy({ peer: { running, waiting, models } }: { readonly peer: Peer }) {
  const slots = models.reduce((sum, model) => sum + model.slots, 0);
  return (
    <>
      <meter min={0} max={Math.max(1, slots)} value={running} aria-label={`${running} of ${slots} slots in use`} />
      <span className="small block">
        {`${formatNumber(running)} of ${formatNumber(slots)}`}
        {waiting > 0 && `, ${formatNumber(waiting)} waiting`}
      </span>
    </>
  );
}

const speedOf = ({ models }: Peer): number | null =>
  models.length === 0 ? null : Math.round(Math.max(...models.map((model) => model.decode_tokens_per_second)));

const TONES: Readonly<Record<string, Tone>> = { good: 'good', suspect: 'warn', quarantined: 'bad' };

/** Why a worker has its reputation; the rules are in docs/trust.md. */
function reasonOf({ peer, standing }: Peer, audits: Network['audits']): string {
  if (!standing) return '';
  const count = Math.round(standing.audits);
  const counted = standing.audits === 0 ? 'no audit yet' : formatCount(count, 'audit');
  const last = audits.find(({ worker }) => worker === peer);
  const lastOutcome = last ? `; last outcome: ${last.outcome}` : '';
  switch (standing.state) {
    case 'new':
      return `${counted} of the 10 that a new worker needs; 20% of its answers are audited${lastOutcome}`;
    case 'good':
      return `${counted}, no violation${lastOutcome}`;
    case 'suspect':
      return `an audit found a deviation; 50% of its answers are audited${lastOutcome}`;
    case 'quarantined':
      return `an audit proved a violation: it receives no requests for now${lastOutcome}`;
    default:
      return counted;
  }
}
