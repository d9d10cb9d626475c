// The network as it is now: who lends what, how busy they are, how far they are trusted and why, and who came and went.
import { useEffect, useState } from 'react';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Card, Figure, Figures } from '../ui/card.tsx';
import { Command } from '../ui/command.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { formatAgo, formatNumber, formatShare, formatTime } from '../ui/formats.ts';
import { Empty, Loading, Notice } from '../ui/states.tsx';
import { type Answer, useConversations } from './conversations.ts';
import { type Fleet, shortPeer, useFleet, useNetwork } from './fleet.ts';
import type { Network, Peer } from './inference.ts';
import { onLink } from './place.ts';

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

interface Row {
  readonly peer: Peer;
  readonly goneAt: number | null;
  readonly reason: string;
}

function Workers({ network, fleet }: { readonly network: Network; readonly fleet: Fleet }) {
  const there = network.peers.filter(({ role, connected_since }) => role === 'worker' && connected_since !== null);
  const rows: readonly Row[] = [
    ...there.map((peer) => ({ peer, goneAt: null, reason: reasonOf(peer, network.audits) })),
    ...fleet.gone.map(({ peer, at }) => ({ peer, goneAt: at, reason: '' })),
  ];
  const others = network.peers.length - there.length;
  return (
    <Card title="Workers">
      {rows.length === 0 ? (
        <Empty>No machine is lent just now. `npx strata inference worker` lends one.</Empty>
      ) : (
        <DataTable caption="Workers" columns={WORKER_COLUMNS} rows={rows} keyOf={({ peer: { peer } }) => peer} />
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
          {goneAt === null ? `since ${formatTime(peer.connected_since)}` : `since ${timeOf(goneAt)}`}
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
    name: 'Standing',
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

/** Hand-overs told, newest first. */
const MOST_TOLD = 12;

interface Told {
  readonly key: string;
  readonly at: number;
  readonly what: string;
  /** The conversation in which it happened. */
  readonly chat: string | null;
}

/** Who came and went while this page looked, and which answers of this browser changed hands. */
function Events({ fleet }: { readonly fleet: Fleet }) {
  const conversations = useConversations();
  const now = useNow();
  const handOvers = conversations.flatMap(({ id, turns }) =>
    turns.flatMap((turn) => (turn.role === 'assistant' ? handOversOf(turn, id) : [])),
  );
  const told = [
    ...fleet.events.map(({ kind, peer, at }) => ({
      key: `${kind} ${peer} ${at}`,
      at,
      what: `Worker ${shortPeer(peer)} ${kind === 'gone' ? 'has gone' : 'has joined'}.`,
      chat: null,
    })),
    ...handOvers,
  ]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, MOST_TOLD);
  return (
    <Card title="What happened">
      {told.length === 0 ? (
        <Empty>Nobody has come or gone since this page was opened.</Empty>
      ) : (
        <ol className="chat-events" aria-live="polite">
          {told.map(({ key, at, what, chat }) => (
            <li key={key}>
              <time dateTime={new Date(at).toISOString()} title={formatAgo(new Date(at).toISOString(), now)}>
                {timeOf(at)}
              </time>
              <span>
                {what}{' '}
                {chat !== null && (
                  <a href={`/?chat=${chat}`} onClick={onLink}>
                    See the answer
                  </a>
                )}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function handOversOf({ id, askedAt, segments, pauseMs }: Answer, chat: string): Told[] {
  return (segments ?? []).slice(1).map(({ worker, from }, i) => ({
    key: `${id} ${i}`,
    at: askedAt,
    what: `Your answer was handed over at token ${from + 1}, from ${shortPeer(segments?.[i]?.worker ?? '')} to ${shortPeer(worker)}${
      pauseMs === null ? '' : `, after ${formatNumber(Math.round(pauseMs))} ms at most`
    }.`,
    chat,
  }));
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const timeOf = (at: number) => clock.format(new Date(at));

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
