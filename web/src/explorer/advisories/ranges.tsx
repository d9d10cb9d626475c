// The products of an advisory with their affected versions.
import type { Advisory } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { DataTable } from '../../ui/table/data-table.tsx';
import { RANGE_SOURCES } from './labels.ts';

export function Ranges({ products }: Pick<Advisory, 'products'>) {
  return (
    <DataTable
      caption="Products and affected versions"
      rows={products}
      keyOf={({ product_id: id, version_range: range, range_source: source }) => `${id} ${source} ${range}`}
      columns={[
        {
          name: 'Product',
          cell: ({ product, product_id: id }) => (
            <Link to="/provider/$provider" params={{ provider: id }}>
              {product}
            </Link>
          ),
        },
        {
          name: 'Affected versions',
          cell: ({ version_range: range }) => (range === null ? '–' : <code>{range}</code>),
        },
        { name: 'Source', cell: ({ range_source: source }) => (source === null ? '–' : RANGE_SOURCES[source]) },
        { name: 'Affected', isNumber: true, cell: ({ domains }) => formatNumber(domains.version) },
        { name: 'Possibly affected', isNumber: true, cell: ({ domains }) => formatNumber(domains.product) },
      ]}
    />
  );
}
