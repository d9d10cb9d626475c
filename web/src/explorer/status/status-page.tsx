// The status page: health, data coverage, advisory sources, public log and keys.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Command, CopyButton } from '../../ui/controls/button.tsx';
import { formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer, AnswerCard, SourceOf } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { categoryColumn } from '../links/columns.tsx';
import { readCheckpoint } from './checkpoint.ts';
import { SourcesCard } from './sources-card.tsx';

export function Status() {
  return (
    <Page
      title="Status"
      lead="Service health, data coverage, advisory sources, and the public log and keys for verification."
    >
      <ServiceCard />
      <AnswerCard title="Data coverage" path="/stack/v1/stats" input={{}}>
        {(stats) => <Coverage stats={stats} />}
      </AnswerCard>
      <SourcesCard />
      <AnswerCard title="Ledger" path="/ledger/checkpoint" input={{}}>
        {(text) => <Checkpoint text={text} />}
      </AnswerCard>
      <AnswerCard title="Signing keys" path="/.well-known/stack-keys.json" input={{}}>
        {(body) => <Keys body={body} />}
      </AnswerCard>
    </Page>
  );
}

/** The health and API version; `/health` does not count against the quota. */
function ServiceCard() {
  const health = useStack('/health', {}, { pollMs: 30_000 });
  return (
    <Card title="Service" foot={health.data && <SourceOf query={health} />}>
      <Answer query={health}>
        {({ status, version }) => (
          <Figures>
            <Figure name="Health" note={`checked ${formatTime(health.dataUpdatedAt)}`}>
              {health.isError ? <Badge tone="bad">no response</Badge> : <Badge tone="good">{status}</Badge>}
            </Figure>
            <Figure name="API version" value={version} note={<a href="/reference">API reference</a>} />
          </Figures>
        )}
      </Answer>
    </Card>
  );
}

type Stats = StackPaths['/stack/v1/stats']['body'];

const CATEGORY_COLUMNS: readonly Column<Stats['by_category'][number]>[] = [
  { ...categoryColumn, value: ({ category }) => formatName(category) },
  numberColumn('Domains', 'domains', (count, { category }) => (
    <Link to="/search" search={{ category }}>
      {formatNumber(count)}
    </Link>
  )),
  numberColumn('Providers', 'providers'),
];

function Coverage({ stats }: { readonly stats: Stats }) {
  const { domains, domains_by_state, services, providers, scans, migrations, by_category, computed_at } = stats;
  const states = Object.entries(domains_by_state)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatNumber(count)} ${state}`);
  return (
    <>
      <Figures>
        <Figure
          name="Domains measured"
          note={`${states.join(', ')}; those whose name servers have never answered are not counted`}
        >
          <Link to="/search">{formatNumber(domains)}</Link>
        </Figure>
        <Figure name="Services found" value={services} note={<Link to="/calibration">any confidence</Link>} />
        <Figure name="Providers in use">
          <Link to="/market">{formatNumber(providers)}</Link>
        </Figure>
        <Figure name="Scans" value={scans} />
        <Figure
          name="Migrations in 30 days"
          note={`${formatNumber(migrations.last_7d)} in 7 days, ${formatNumber(migrations.last_24h)} in 24 hours`}
        >
          <Link to="/migrations" search={{ hours: '720' }}>
            {formatNumber(migrations.last_30d)}
          </Link>
        </Figure>
      </Figures>
      <h3 className="part-head">By category</h3>
      <DataTable
        caption="Domains and providers by category"
        rows={by_category}
        keyOf={({ category }) => category}
        columns={CATEGORY_COLUMNS}
      />
      <p className="small soft">As of {formatTime(computed_at)}.</p>
    </>
  );
}

/** The public log of receipts: its size, root hash and signers. */
function Checkpoint({ text }: { readonly text: string }) {
  const parts = readCheckpoint(text);
  if (!parts) {
    return (
      <Notice title="Invalid checkpoint" tone="bad">
        <pre>{text.slice(0, 500)}</pre>
      </Notice>
    );
  }
  return (
    <>
      <Figures>
        <Figure name="Receipts in the log" value={Number(parts.size)} />
      </Figures>
      <dl className="facts note">
        <dt>Origin</dt>
        <dd>
          <code>{parts.origin}</code>
        </dd>
        <dt>Root hash</dt>
        <dd>
          <code>{parts.root}</code> <CopyButton text={parts.root} label="Copy root hash" />
        </dd>
        <dt>Signed by</dt>
        <dd>
          <code>{parts.signers.join(', ')}</code>
        </dd>
      </dl>
      <p className="small soft">
        The log is append-only: with an earlier checkpoint, anyone can prove that no entry has changed since. It is not
        known here whether any third party stores checkpoints of this log.
      </p>
    </>
  );
}

type KeySet = StackPaths['/.well-known/stack-keys.json']['body'];

const KEY_COLUMNS: readonly Column<KeySet['keys'][number]>[] = [
  { name: 'Key', cell: ({ kid }) => <code className="narrow">{kid}</code> },
  { name: 'Type', isMinor: true, cell: ({ crv }) => crv },
  { name: 'State', cell: ({ status }) => <Badge tone={status === 'current' ? 'good' : 'plain'}>{status}</Badge> },
  {
    name: 'Since',
    cell: ({ not_before: since }) => (
      <span className="small nowrap">{formatTime(typeof since === 'string' ? since : null)}</span>
    ),
  },
];

/** The public keys that verify answers and checkpoints. */
function Keys({ body: { keys, ledger } }: { readonly body: KeySet }) {
  return (
    <>
      <DataTable caption="Receipt signing keys" rows={keys} keyOf={({ kid }) => kid} columns={KEY_COLUMNS} />
      <h3 className="part-head">Verifier keys of the ledger</h3>
      <p className="small soft">
        Store a verifier key to verify the ledger without trusting the key that this service reports.
      </p>
      {ledger.verifier_keys.map((key) => (
        <Command key={key} text={key} label="Copy verifier key" />
      ))}
    </>
  );
}
