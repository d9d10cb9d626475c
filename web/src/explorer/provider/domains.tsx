// The paginated list of the domains of a provider.
import type { FoundDomain } from '@strata/client';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { Pager } from '../answer/pager.tsx';
import { Source } from '../answer/source.tsx';
import { domainColumn, scannedColumn } from '../market/columns.tsx';
import { PAGE_LENGTH, PROVIDER, type ProviderProps } from './use-provider.ts';

interface DomainsProps extends ProviderProps {
  /** The search parameters of the page. */
  readonly search: Readonly<Record<string, string>>;
}

export function Domains({ provider, input, answer, search }: DomainsProps) {
  const { provider_id: id, domains } = provider;
  const { total, offset, results } = domains;
  return (
    <Card
      title={`${formatNumber(total)} ${total === 1 ? 'domain' : 'domains'}`}
      foot={
        <>
          <CsvDownload
            path="/stack/v1/providers/{provider}/domains.csv"
            input={{ path: { provider: id } }}
            name={`${id}-domains`}
          >
            The complete list in alphabetical order, up to 1,000 rows.
          </CsvDownload>
          <Source path={PROVIDER} input={input} answer={answer} />
        </>
      }
    >
      {results.length === 0 ? (
        <Empty>{total === 0 ? 'No domains use it currently.' : 'This page is past the end of the list.'}</Empty>
      ) : (
        <div className="nowrap">
          <DataTable
            caption={`Domains of ${provider.provider}`}
            columns={columnsOf(id)}
            rows={results}
            keyOf={({ domain }: FoundDomain) => domain}
          />
        </div>
      )}
      <Pager search={search} offset={offset} limit={PAGE_LENGTH} rows={{ total }} />
    </Card>
  );
}

function columnsOf(id: string): readonly Column<FoundDomain>[] {
  return [
    domainColumn,
    {
      name: 'Categories',
      cell: ({ services }) =>
        services
          .filter((service) => service.provider_id === id)
          .map(({ category }) => formatName(category))
          .join(', ') || '–',
    },
    textColumn('State', ({ state }) => state, formatName),
    numberColumn('Security score', ({ score }) => score),
    scannedColumn(),
  ];
}
