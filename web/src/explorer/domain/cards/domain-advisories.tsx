// The advisories of a domain: those that affect its observed versions, and those that possibly affect it.

import type { Affected, StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge, Severity } from '../../../ui/badge.tsx';
import { formatDay, formatNumber, formatShare } from '../../../ui/formats.ts';
import { Empty } from '../../../ui/states.tsx';
import { numberColumn } from '../../../ui/table/columns.ts';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { REASONS, SEVERITIES } from '../../advisories/labels.ts';
import { AnswerCard } from '../../answer/answer.tsx';
import { offsetOf, Pager } from '../../answer/pager.tsx';

const PAGE = 100;

type Body = StackPaths['/stack/v1/enrichment/affected']['body'];

const COLUMNS: readonly Column<Affected>[] = [
  {
    name: 'Advisory',
    value: ({ id }) => id,
    cell: ({ id, title, known_exploited }) => (
      <>
        <Link to="/advisories" search={{ advisory: id }} className="nowrap">
          {id}
        </Link>{' '}
        {known_exploited && <Badge tone="bad">exploited</Badge>}
        <span className="small soft block">{title ?? '–'}</span>
      </>
    ),
  },
  {
    name: 'Severity',
    value: ({ severity }) => (severity === null ? null : -SEVERITIES.indexOf(severity)),
    cell: ({ severity }) => (severity === null ? '–' : <Severity level={severity} />),
  },
  numberColumn('CVSS', ({ cvss }) => cvss),
  numberColumn(
    'EPSS',
    ({ epss }) => epss,
    (epss) => formatProbability(epss),
  ),
  {
    name: 'Product',
    value: ({ product }) => product,
    cell: ({ product, product_id, version }) => (
      <>
        <Link to="/provider/$provider" params={{ provider: product_id }}>
          {product}
        </Link>{' '}
        {version && <code>{version}</code>}
      </>
    ),
  },
  {
    name: 'Reason',
    value: ({ reason }) => reason,
    cell: ({ reason, version_range }) => (
      <>
        {REASONS[reason]}
        {version_range && <code className="block">{version_range}</code>}
      </>
    ),
  },
  {
    name: 'Published',
    value: ({ published }) => published,
    cell: ({ published }) => <span className="nowrap">{formatDay(published)}</span>,
  },
];

/** Probabilities that would round to 0 are shown as `< 0.1%`. */
const formatProbability = (epss: number | null) =>
  epss !== null && epss > 0 && epss < 0.0005 ? `< ${formatShare(0.001)}` : formatShare(epss);

interface AdvisoriesProps {
  readonly domain: string;
  readonly search: Readonly<Record<string, string>>;
}

export function DomainAdvisories({ domain, search }: AdvisoriesProps) {
  const offset = offsetOf(search.offset);
  const input = { query: { domain, limit: PAGE, offset } };
  return (
    <AnswerCard
      title="Advisories"
      path="/stack/v1/enrichment/affected"
      input={input}
      keepsLast="page"
      lines={8}
      actions={<Link to="/advisories">All advisories</Link>}
    >
      {(body) => (
        <>
          <AdvisoryLists domain={domain} body={body} />
          <Pager offset={offset} limit={PAGE} rows={body} search={search} />
        </>
      )}
    </AnswerCard>
  );
}

function AdvisoryLists({ domain, body }: { readonly domain: string; readonly body: Body }) {
  const { affected, known } = body;
  if (!known.advisories) return <Empty>No advisory source has been synchronized yet.</Empty>;
  if (affected.length === 0) return <Empty>No known advisories affect this domain.</Empty>;
  const certain = affected.filter(({ match }) => match === 'version');
  // The count is shown only if all rows are on this page.
  const counted = (name: string, rows: readonly Affected[]) =>
    affected.length === body.total ? `${name} (${formatNumber(rows.length)})` : name;
  const possible = affected.filter(({ match }) => match === 'product');
  return (
    <>
      {certain.length > 0 && (
        <AdvisoryList name={counted('Affected', certain)} rows={certain} domain={domain}>
          The observed version is in the affected range.
        </AdvisoryList>
      )}
      {possible.length > 0 && (
        <AdvisoryList name={counted('Possibly affected', possible)} rows={possible} domain={domain}>
          The product is in use, but it is unknown whether its version is affected.
        </AdvisoryList>
      )}
    </>
  );
}

interface AdvisoryListProps {
  readonly name: string;
  readonly domain: string;
  readonly rows: readonly Affected[];
  readonly children: string;
}

function AdvisoryList({ name, domain, rows, children }: AdvisoryListProps) {
  return (
    <section className="domain-part">
      <h3>{name}</h3>
      <p className="small soft">{children}</p>
      <DataTable
        caption={`${name}: advisories of ${domain}`}
        columns={COLUMNS}
        rows={rows}
        keyOf={({ id, product_id }) => `${id} ${product_id}`}
      />
    </section>
  );
}
