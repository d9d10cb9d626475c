// The paginated list of the domains of a provider.
import type { FoundDomain } from '@strata/client';
import { Ago } from '../../ui/ago.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { Pager } from '../answer/pager.tsx';
import { Source } from '../answer/source.tsx';
import { DomainLink } from '../market/links.tsx';
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
        <div className="market-oneline">
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
    { name: 'Domain', cell: ({ domain }) => <DomainLink domain={domain} />, value: ({ domain }) => domain },
    {
      name: 'Categories',
      cell: ({ services }) =>
        services
          .filter((service) => service.provider_id === id)
          .map(({ category }) => formatName(category))
          .join(', ') || '–',
    },
    { name: 'State', cell: ({ state }) => formatName(state), value: ({ state }) => state },
    {
      name: 'Security score',
      isNumber: true,
      cell: ({ score }) => formatNumber(score),
      value: ({ score }) => score,
    },
    {
      name: 'Last scanned',
      cell: ({ scanned_at }) => <Ago at={scanned_at} />,
      value: ({ scanned_at }) => scanned_at,
    },
  ];
}
