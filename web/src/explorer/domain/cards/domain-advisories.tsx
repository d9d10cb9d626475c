// Advisories that concern a domain: those that its versions are affected by, and those that may or may not concern it.

import type { Affected, StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge, Severity } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/card/card.tsx';
import { formatDay, formatNumber, formatShare } from '../../../ui/formats.ts';
import { Empty } from '../../../ui/states.tsx';
import { type Column, DataTable } from '../../../ui/table/data-table.tsx';
import { Answer } from '../../answer/answer.tsx';
import { offsetOf, Pager } from '../../answer/pager.tsx';
import { Source } from '../../answer/source.tsx';
import { useStack } from '../../answer/use-stack.ts';

const PAGE = 100;

type Body = StackPaths['/stack/v1/enrichment/affected']['body'];

const REASONS: Readonly<Record<Affected['reason'], string>> = {
  in_range: 'the version seen is affected',
  no_version: 'no version is shown',
  no_range: 'no range to compare with',
  condition: 'depends on how it is set up',
  backport: 'may be mended by the distribution',
};

const RANKS: Readonly<Record<string, number>> = { low: 1, medium: 2, high: 3, critical: 4 };

const COLUMNS: readonly Column<Affected>[] = [
  {
    name: 'Advisory',
    value: ({ id }) => id,
    cell: ({ id, title, known_exploited }) => (
      <>
        <Link to="/advisories" search={{ advisory: id }} className="domain-nowrap">
          {id}
        </Link>{' '}
        {known_exploited && <Badge tone="bad">exploited</Badge>}
        <span className="small soft domain-block">{title ?? '–'}</span>
      </>
    ),
  },
  {
    name: 'Severity',
    value: ({ severity }) => (severity === null ? null : (RANKS[severity] ?? null)),
    cell: ({ severity }) => (severity === null ? '–' : <Severity level={severity} />),
  },
  { name: 'CVSS', isNumber: true, value: ({ cvss }) => cvss, cell: ({ cvss }) => formatNumber(cvss) },
  { name: 'EPSS', isNumber: true, value: ({ epss }) => epss, cell: ({ epss }) => formatProbability(epss) },
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
    name: 'Why',
    value: ({ reason }) => reason,
    cell: ({ reason, version_range }) => (
      <>
        {REASONS[reason]}
        {version_range && <code className="domain-block">{version_range}</code>}
      </>
    ),
  },
  {
    name: 'Published',
    value: ({ published }) => published,
    cell: ({ published }) => <span className="domain-nowrap">{formatDay(published)}</span>,
  },
];

/** Small ones are not nothing. */
const formatProbability = (epss: number | null) =>
  epss !== null && epss > 0 && epss < 0.0005 ? `< ${formatShare(0.001)}` : formatShare(epss);

interface AdvisoriesProps {
  readonly domain: string;
  readonly search: Readonly<Record<string, string>>;
}

export function DomainAdvisories({ domain, search }: AdvisoriesProps) {
  const offset = offsetOf(search.offset);
  const input = { query: { domain, limit: PAGE, offset } };
  const query = useStack('/stack/v1/enrichment/affected', input, { keepsLast: 'page' });
  return (
    <Card
      title="Advisories"
      actions={<Link to="/advisories">All advisories</Link>}
      foot={query.data && <Source path="/stack/v1/enrichment/affected" input={input} answer={query.data} />}
    >
      <Answer query={query} lines={8}>
        {(body) => (
          <>
            <Affecting domain={domain} body={body} />
            <Pager offset={offset} limit={PAGE} rows={body} search={search} />
          </>
        )}
      </Answer>
    </Card>
  );
}

function Affecting({ domain, body }: { readonly domain: string; readonly body: Body }) {
  const { affected, known } = body;
  if (!known.advisories) return <Empty>No source of advisories has been read yet, so nothing is known.</Empty>;
  if (affected.length === 0) return <Empty>No advisory concerns what this domain shows.</Empty>;
  const certain = affected.filter(({ match }) => match === 'version');
  // A count of one page would read as one of all.
  const counted = (name: string, rows: readonly Affected[]) =>
    affected.length === body.total ? `${name} (${formatNumber(rows.length)})` : name;
  const possible = affected.filter(({ match }) => match === 'product');
  return (
    <>
      {certain.length > 0 && (
        <Part name={counted('Affected', certain)} rows={certain} domain={domain}>
          A version was seen that lies in the range of these.
        </Part>
      )}
      {possible.length > 0 && (
        <Part name={counted('May concern it', possible)} rows={possible} domain={domain}>
          The product is in use; whether its version is affected cannot be said from outside.
        </Part>
      )}
    </>
  );
}

interface PartProps {
  readonly name: string;
  readonly domain: string;
  readonly rows: readonly Affected[];
  readonly children: string;
}

function Part({ name, domain, rows, children }: PartProps) {
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
