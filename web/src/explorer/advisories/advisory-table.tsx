// The advisory table, most urgent first.
import type { Advisory } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge, Severity } from '../../ui/badge.tsx';
import { formatDay, formatDecimal, formatNumber, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
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
  const countOf = (name: string, value: (row: Advisory) => number): Column<Advisory> => ({
    name,
    isNumber: true,
    cell: (row) => (
      <Link to="/advisories" search={opened(row.id)}>
        {formatNumber(value(row))}
      </Link>
    ),
    value,
  });
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
    numberColumn('CVSS', ({ cvss }) => cvss, formatDecimal),
    numberColumn('EPSS', ({ epss }) => epss, formatShare),
    { name: 'Affected products', cell: ({ products }) => <Products products={products} /> },
    countOf('Affected', ({ domains }) => domains.version),
    countOf('Possibly affected', ({ domains }) => domains.product),
    {
      name: 'Published',
      cell: ({ published }) => <time className="nowrap">{formatDay(published)}</time>,
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
