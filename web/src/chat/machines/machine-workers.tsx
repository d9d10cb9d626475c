// The workers: what each lends, how busy it is, how far it is trusted and why; those who went stay for a while.
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatNumber, formatShare, formatTime } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import type { Network, Peer } from '../inference.ts';
import type { Fleet } from './observed-fleet.ts';
import { shortPeer } from './peer-name.ts';
import { clockTime } from './use-network.ts';

interface Row {
  readonly peer: Peer;
  readonly goneAt: number | null;
  readonly reason: string;
}

export function Workers({ network, fleet }: { readonly network: Network; readonly fleet: Fleet }) {
  const there = network.peers.filter(({ role, connected_since }) => role === 'worker' && connected_since !== null);
  const rows: readonly Row[] = [
    ...there.map((peer) => ({ peer, goneAt: null, reason: reasonOf(peer, network.audits) })),
    // The fleet may know a moment earlier than the report.
    ...fleet.gone
      .filter(({ peer }) => !there.some((one) => one.peer === peer.peer))
      .map(({ peer, at }) => ({ peer, goneAt: at, reason: '' })),
  ];
  const others = network.peers.length - there.length;
  return (
    <Card title="Workers">
      {rows.length === 0 ? (
        <Empty>
          No machine is lent just now. <code>npx strata inference worker</code> lends one.
        </Empty>
      ) : (
        <div className="chat-workers">
          <DataTable caption="Workers" columns={WORKER_COLUMNS} rows={rows} keyOf={({ peer: { peer } }) => peer} />
        </div>
      )}
      {others > 0 && (
        <p className="small soft">And {formatNumber(others)} known peers that are not connected or lend nothing.</p>
      )}
    </Card>
  );
}

const WORKER_COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Worker',
    value: ({ peer: { peer } }) => peer,
    cell: ({ peer, goneAt }) => (
      <>
        <code title={peer.peer}>{shortPeer(peer.peer)}</code>{' '}
        {goneAt === null ? <Badge tone="good">there</Badge> : <Badge tone="bad">gone</Badge>}
        <span className="small soft chat-below">
          {goneAt === null ? `since ${formatTime(peer.connected_since)}` : `since ${clockTime(goneAt)}`}
        </span>
      </>
    ),
  },
  {
    name: 'Lends',
    cell: ({ peer: { models, software } }) => (
      <>
        {models.map(({ name, sha256, quantisation, context_length }) => (
          <span key={sha256} className="chat-line">
            {name} <span className="small soft">{`${quantisation}, context ${formatNumber(context_length)}`}</span>
          </span>
        ))}
        <span className="small soft chat-below">{software}</span>
      </>
    ),
  },
  {
    name: 'Tokens/s',
    isNumber: true,
    value: ({ peer }) => speedOf(peer),
    cell: ({ peer }) => formatNumber(speedOf(peer)),
  },
  {
    name: 'Busy',
    value: ({ peer }) => peer.running,
    cell: ({ peer, goneAt }) => (goneAt === null ? <Busy peer={peer} /> : '–'),
  },
  {
    name: 'Round trip',
    isNumber: true,
    value: ({ peer }) => peer.round_trip_ms,
    cell: ({ peer: { round_trip_ms: ms }, goneAt }) =>
      ms === null || goneAt !== null ? '–' : `${formatNumber(ms)} ms`,
  },
  {
    name: 'Reputation',
    value: ({ peer }) => peer.standing?.trust ?? null,
    cell: ({ peer: { standing }, goneAt, reason }) =>
      standing && goneAt === null ? (
        <>
          <Badge tone={TONES[standing.state] ?? 'plain'}>{standing.state}</Badge>{' '}
          <span className="small">trust {formatShare(standing.trust)}</span>
          <span className="small soft chat-below chat-reason">{reason}</span>
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
      <meter min={0} max={Math.max(1, slots)} value={running} aria-label={`${running} of ${slots} places`} />
      <span className="small chat-below">
        {`${formatNumber(running)} of ${formatNumber(slots)}`}
        {waiting > 0 && `, ${formatNumber(waiting)} waiting`}
      </span>
    </>
  );
}

const speedOf = ({ models }: Peer): number | null =>
  models.length === 0 ? null : Math.round(Math.max(...models.map((model) => model.decode_tokens_per_second)));

const TONES: Readonly<Record<string, Tone>> = { good: 'good', suspect: 'warn', quarantined: 'bad' };

/** What the standing rests on; docs/trust.md has the rules. */
function reasonOf({ peer, standing }: Peer, audits: Network['audits']): string {
  if (!standing) return '';
  const counted =
    standing.audits === 0
      ? 'no audit yet'
      : `${formatNumber(Math.round(standing.audits))} ${Math.round(standing.audits) === 1 ? 'audit' : 'audits'}`;
  const last = audits.find(({ worker }) => worker === peer);
  const lastly = last ? `; the last one: ${last.outcome}` : '';
  switch (standing.state) {
    case 'new':
      return `${counted} of the 10 that make it known; a fifth of its answers is looked at${lastly}`;
    case 'good':
      return `${counted}, and nothing against it${lastly}`;
    case 'suspect':
      return `an audit found something; half of its answers are looked at${lastly}`;
    case 'quarantined':
      return `what was found convicts it: it gets no work for now${lastly}`;
    default:
      return counted;
  }
}
