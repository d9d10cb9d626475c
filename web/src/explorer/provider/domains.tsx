// The paginated list of the domains of a provider.
import type { FoundDomain, StackPaths } from '@strata/client';
import type { ReactNode } from 'react';
import { Card } from '../../ui/card/card.tsx';
import { formatCount, formatName } from '../../ui/formats.ts';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { domainColumn, scannedColumn } from '../links/columns.tsx';
import { emptyPage, Pager } from '../links/pager.tsx';

export type ProviderBody = StackPaths['/stack/v1/providers/{provider}']['body'];

/** Domains per page. */
export const PAGE_LENGTH = 50;

export function Domains({ provider, source }: { readonly provider: ProviderBody; readonly source: ReactNode }) {
  const { provider_id: id, domains } = provider;
  const { total, offset, results } = domains;
  return (
    <Card
      title={formatCount(total, 'domain')}
      foot={
        <>
          <CsvDownload
            path="/stack/v1/providers/{provider}/domains.csv"
            input={{ path: { provider: id } }}
            name={`${id}-domains`}
          >
            The complete list in alphabetical order, up to 1,000 rows.
          </CsvDownload>
          {source}
        </>
      }
    >
      <DataTable
        caption={`Domains of ${provider.provider}`}
        columns={columnsOf(id)}
        rows={results}
        keyOf={({ domain }) => domain}
        empty={emptyPage(total, 'No domains use it currently.')}
      />
      <Pager offset={offset} limit={PAGE_LENGTH} rows={{ total }} />
    </Card>
  );
}

const columnsOf = (id: string): readonly Column<FoundDomain>[] => [
  domainColumn,
  {
    name: 'Categories',
    cell: ({ services }) =>
      services
        .filter((service) => service.provider_id === id)
        .map(({ category }) => formatName(category))
        .join(', ') || '–',
  },
  minor(textColumn('State', 'state', formatName)),
  numberColumn('Security score', 'score'),
  minor(scannedColumn),
];
