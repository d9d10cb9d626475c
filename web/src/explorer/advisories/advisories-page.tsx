// The advisories page: the list with its filters, or one advisory with its affected domains.
import type { Advisory } from '@strata/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Day } from '../../ui/ago.tsx';
import { formatCount, formatDecimal, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { Page } from '../frame/page.tsx';
import { labelled } from '../links/categories.ts';
import { AdvisoryLink, ProviderLink } from '../links/links.tsx';
import { emptyPage, offsetOf, Pager } from '../links/pager.tsx';
import { Parameter } from '../links/parameter.tsx';
import { changed, oneOf, type Search } from '../links/search-params.ts';
import { SourcesCard } from '../status/sources-card.tsx';
import { OpenedAdvisory } from './advisory.tsx';
import { nameColumn, severityColumn } from './advisory-columns.tsx';
import { SEVERITIES } from './labels.ts';

const route = getRouteApi('/advisories');
const PAGE = 50;

export function Advisories() {
  const search = route.useSearch();
  const { advisory } = search;
  if (advisory !== undefined) {
    return (
      <Page
        title={advisory.slice(0, 60)}
        actions={
          <Link className="button" {...changed({ advisory: undefined })}>
            All advisories
          </Link>
        }
      >
        <OpenedAdvisory key={advisory} id={advisory} />
      </Page>
    );
  }
  return (
    <Page
      title="Advisories"
      lead="Published vulnerabilities of the products that domains use. Observed versions are compared with the published version ranges; no vulnerability is tested."
    >
      <AdvisoryList search={search} />
      <SourcesCard />
    </Page>
  );
}

function AdvisoryList({ search }: { readonly search: Search }) {
  const severity = oneOf(search.severity, SEVERITIES);
  const exploited = oneOf(search.known_exploited, ['true', 'false']);
  const offset = offsetOf(search.offset);
  return (
    <AnswerCard
      title="All advisories"
      path="/stack/v1/enrichment/advisories"
      input={{ query: { severity, known_exploited: exploited, limit: PAGE, offset: offset || undefined } }}
      keepsLast="any"
      actions={
        <>
          <Parameter label="Severity" name="severity" options={labelled(SEVERITIES)} />
          <Parameter
            label="Known exploited"
            name="known_exploited"
            options={[
              ['true', 'Yes'],
              ['false', 'No'],
            ]}
          />
        </>
      }
    >
      {({ advisories, total }) => (
        <>
          <p className="small soft note">
            <strong>Affected</strong>: domains that run a version in the range. <strong>Possibly affected</strong>:
            other domains that use the product, with an unknown version. Sorted by known exploitation, then by EPSS, the
            probability of exploitation within 30 days.
          </p>
          {advisories.length === 0 ? (
            <Empty>{emptyPage(total, 'No advisories match these filters.')}</Empty>
          ) : (
            <>
              <p className="small soft" role="status">
                {formatCount(total, 'advisory', 'advisories')}
              </p>
              <DataTable caption="Advisories" columns={COLUMNS} rows={advisories} keyOf={({ id }) => id} />
              <Pager offset={offset} limit={PAGE} rows={{ total }} />
            </>
          )}
        </>
      )}
    </AnswerCard>
  );
}

const toAdvisory = (count: number | null, { id }: Advisory) => (
  <AdvisoryLink id={id}>{formatNumber(count)}</AdvisoryLink>
);

const COLUMNS: readonly Column<Advisory>[] = [
  nameColumn,
  minor(severityColumn),
  numberColumn('CVSS', 'cvss', formatDecimal),
  minor(numberColumn('EPSS', 'epss', formatShare)),
  { name: 'Affected products', isMinor: true, cell: ({ products }) => <Products products={products} /> },
  numberColumn('Affected', ({ domains }) => domains.version, toAdvisory),
  minor(numberColumn('Possibly affected', ({ domains }) => domains.product, toAdvisory)),
  minor(textColumn('Published', 'published', (published) => <Day at={published} />)),
];

function Products({ products }: Pick<Advisory, 'products'>) {
  return (
    <ul className="wide stack tight">
      {products.slice(0, 3).map(({ product, product_id: id, version_range: range }) => (
        <li key={`${id} ${range}`}>
          <ProviderLink id={id} name={product} />{' '}
          <span className="mono small soft">{range ?? 'version range unknown'}</span>
        </li>
      ))}
      {products.length > 3 && <li className="small soft">and {formatNumber(products.length - 3)} more</li>}
    </ul>
  );
}
