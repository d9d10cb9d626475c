// The domains of a provider, page by page.
import type { FoundDomain } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { formatAgo, formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { CsvDownload } from '../market/csv-download.tsx';
import { DomainLink } from '../market/links.tsx';
import { Source } from '../source.tsx';
import { PAGE_LENGTH, PROVIDER, type ProviderPart } from './use-provider.ts';

export function Domains({ provider, input, answer }: ProviderPart) {
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
            fileName={`${id}-domains.csv`}
          />
          <Source path={PROVIDER} input={input} answer={answer} />
        </>
      }
    >
      {results.length === 0 ? (
        <Empty>{total === 0 ? 'No domain uses it now.' : 'The list ends before this page.'}</Empty>
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
      {total > PAGE_LENGTH && <Pages provider={id} offset={offset} total={total} />}
    </Card>
  );
}

function columnsOf(id: string): readonly Column<FoundDomain>[] {
  return [
    { name: 'Domain', cell: ({ domain }) => <DomainLink domain={domain} />, value: ({ domain }) => domain },
    {
      name: 'Uses it for',
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
      name: 'Looked at',
      cell: ({ scanned_at }) => <time dateTime={scanned_at}>{formatAgo(scanned_at)}</time>,
      value: ({ scanned_at }) => scanned_at,
    },
  ];
}

interface PagesProps {
  readonly provider: string;
  readonly offset: number;
  readonly total: number;
}

function Pages({ provider, offset, total }: PagesProps) {
  const last = Math.min(offset + PAGE_LENGTH, total);
  const at = (place: number) => ({ tab: 'domains', ...(place > 0 ? { offset: String(place) } : {}) });
  return (
    <nav className="provider-pages" aria-label="Pages of the list">
      {offset > 0 && (
        <Link
          className="button small"
          to="/provider/$provider"
          params={{ provider }}
          search={at(Math.max(0, offset - PAGE_LENGTH))}
          resetScroll={false}
        >
          Before
        </Link>
      )}
      <span className="small soft">
        {offset < total ? `${formatNumber(offset + 1)} to ${formatNumber(last)} of ${formatNumber(total)}` : ''}
      </span>
      {last < total && (
        <Link
          className="button small"
          to="/provider/$provider"
          params={{ provider }}
          search={at(offset + PAGE_LENGTH)}
          resetScroll={false}
        >
          Next
        </Link>
      )}
    </nav>
  );
}
