// The advisories of a domain: those that affect its observed versions, and those that possibly affect it.
import type { Affected, StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Day } from '../../ui/ago.tsx';
import { formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { nameColumn, severityColumn } from '../advisories/advisory-columns.tsx';
import { REASONS } from '../advisories/labels.ts';
import { AnswerCard } from '../answer/answer.tsx';
import { ProviderLink } from '../links/links.tsx';
import { offsetOf, Pager } from '../links/pager.tsx';
import type { Search } from '../links/search-params.ts';

const PAGE = 100;

type Body = StackPaths['/stack/v1/enrichment/affected']['body'];

/** Probabilities that would round to 0 are shown as `< 0.1%`. */
const formatProbability = (epss: number | null) =>
  epss !== null && epss > 0 && epss < 0.0005 ? `< ${formatShare(0.001)}` : formatShare(epss);

const COLUMNS: readonly Column<Affected>[] = [
  nameColumn,
  minor(severityColumn),
  numberColumn('CVSS', 'cvss'),
  minor(numberColumn('EPSS', 'epss', formatProbability)),
  textColumn('Product', 'product', (product, { product_id, version }) => (
    <>
      <ProviderLink id={product_id} name={product} /> {version && <code>{version}</code>}
    </>
  )),
  minor(
    textColumn('Reason', 'reason', (reason, { version_range }) => (
      <>
        {REASONS[reason]}
        {version_range && <code className="block">{version_range}</code>}
      </>
    )),
  ),
  minor(textColumn('Published', 'published', (published) => <Day at={published} />)),
];

export function DomainAdvisories({ domain, search }: { readonly domain: string; readonly search: Search }) {
  const offset = offsetOf(search.offset);
  return (
    <AnswerCard
      title="Advisories"
      path="/stack/v1/enrichment/affected"
      input={{ query: { domain, limit: PAGE, offset } }}
      keepsLast="page"
      actions={<Link to="/advisories">All advisories</Link>}
    >
      {(body) => (
        <>
          <AdvisoryLists domain={domain} body={body} />
          <Pager offset={offset} limit={PAGE} rows={body} />
        </>
      )}
    </AnswerCard>
  );
}

/** Name, the match of its advisories, and its meaning. */
const LISTS = [
  ['Affected', 'version', 'The observed version is in the affected range.'],
  ['Possibly affected', 'product', 'The product is in use, but it is unknown whether its version is affected.'],
] as const;

function AdvisoryLists({ domain, body }: { readonly domain: string; readonly body: Body }) {
  const { affected, known, total } = body;
  if (!known.advisories) return <Empty>No advisory source has been synchronized yet.</Empty>;
  if (affected.length === 0) return <Empty>No known advisories affect this domain.</Empty>;
  return LISTS.map(([title, kind, meaning]) => {
    const rows = affected.filter(({ match }) => match === kind);
    // The count is shown only if all rows are on this page.
    const name = affected.length === total ? `${title} (${formatNumber(rows.length)})` : title;
    return (
      rows.length > 0 && (
        <section key={kind}>
          <h3 className="part-head">{name}</h3>
          <p className="small soft">{meaning}</p>
          <DataTable
            caption={`${name}: advisories of ${domain}`}
            columns={COLUMNS}
            rows={rows}
            keyOf={({ id, product_id }) => `${id} ${product_id}`}
          />
        </section>
      )
    );
  });
}
