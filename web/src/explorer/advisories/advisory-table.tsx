// The advisory table, most urgent first.
import type { Advisory } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge, Severity } from '../../ui/badge.tsx';
import { formatDay, formatDecimal, formatNumber, formatShare } from '../../ui/formats.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { withChanges } from '../search/search-params.ts';
import { SEVERITIES } from './labels.ts';

interface AdvisoryTableProps {
  readonly advisories: readonly Advisory[];
  /** The search parameters of the page, kept when an advisory is opened. */
  readonly search: Readonly<Record<string, string>>;
}

export function AdvisoryTable({ advisories, search }: AdvisoryTableProps) {
  const opened = (id: string) => withChanges(search, { advisory: id });
  const columns: readonly Column<Advisory>[] = [
    {
      name: 'Advisory',
      cell: ({ id, title, known_exploited: isExploited }) => (
        <div className="advisories-name">
          <Link to="/advisories" search={opened(id)} className="mono">
            {id}
          </Link>{' '}
          {isExploited && <Badge tone="bad">exploited</Badge>}
          <span className="small soft">{title}</span>
        </div>
      ),
      value: ({ id }) => id,
    },
    {
      name: 'Severity',
      cell: ({ severity }) => (severity === null ? '–' : <Severity level={severity} />),
      value: ({ severity }) => (severity === null ? null : -SEVERITIES.indexOf(severity)),
    },
    { name: 'CVSS', isNumber: true, cell: ({ cvss }) => formatDecimal(cvss), value: ({ cvss }) => cvss },
    { name: 'EPSS', isNumber: true, cell: ({ epss }) => formatShare(epss), value: ({ epss }) => epss },
    { name: 'Affected products', cell: ({ products }) => <Products products={products} /> },
    {
      name: 'Affected',
      isNumber: true,
      cell: ({ id, domains }) => (
        <Link to="/advisories" search={opened(id)}>
          {formatNumber(domains.version)}
        </Link>
      ),
      value: ({ domains }) => domains.version,
    },
    {
      name: 'Possibly affected',
      isNumber: true,
      cell: ({ id, domains }) => (
        <Link to="/advisories" search={opened(id)}>
          {formatNumber(domains.product)}
        </Link>
      ),
      value: ({ domains }) => domains.product,
    },
    {
      name: 'Published',
      cell: ({ published }) => <time className="advisories-day">{formatDay(published)}</time>,
      value: (row) => row.published,
    },
  ];
  return <DataTable caption="Advisories" columns={columns} rows={advisories} keyOf={({ id }) => id} />;
}

function Products({ products }: Pick<Advisory, 'products'>) {
  return (
    <ul className="advisories-products">
      {products.slice(0, 3).map(({ product, product_id: id, version_range: range }) => (
        <li key={`${id} ${range}`}>
          <Link to="/provider/$provider" params={{ provider: id }}>
            {product}
          </Link>{' '}
          <span className="mono small soft">{range ?? 'version range unknown'}</span>
        </li>
      ))}
      {products.length > 3 && <li className="small soft">and {formatNumber(products.length - 3)} more</li>}
    </ul>
  );
}
