// Columns of domains, providers, categories and times, which link to their pages.
import { Ago } from '../../ui/ago.tsx';
import type { Column } from '../../ui/table/data-table.tsx';
import { CategoryLink, DomainLink, ProviderLink } from './links.tsx';

export const domainColumn: Column<{ readonly domain: string }> = {
  name: 'Domain',
  cell: ({ domain }) => <DomainLink domain={domain} />,
  value: ({ domain }) => domain,
};

export const providerColumn: Column<{ readonly provider: string; readonly provider_id: string }> = {
  name: 'Provider',
  cell: ({ provider, provider_id }) => <ProviderLink id={provider_id} name={provider} />,
  value: ({ provider }) => provider,
};

export const categoryColumn: Column<{ readonly category: string }> = {
  name: 'Category',
  cell: ({ category }) => <CategoryLink category={category} />,
  value: ({ category }) => category,
};

interface Move {
  readonly from: string | null;
  readonly from_id: string | null;
  readonly to: string | null;
  readonly to_id: string | null;
}

/** The previous and the new provider of a migration. */
export const moveColumns: readonly Column<Move>[] = [
  { name: 'From', cell: ({ from, from_id }) => <ProviderLink id={from_id} name={from} />, value: ({ from }) => from },
  { name: 'To', cell: ({ to, to_id }) => <ProviderLink id={to_id} name={to} />, value: ({ to }) => to },
];

/** The time of the last scan. */
export const scannedColumn = (className?: string): Column<{ readonly scanned_at: string }> => ({
  name: 'Last scanned',
  cell: ({ scanned_at: at }) => <Ago at={at} {...(className === undefined ? {} : { className })} />,
  value: ({ scanned_at: at }) => at,
});
