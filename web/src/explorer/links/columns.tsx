// Columns of domains, providers, categories and times, which link to their pages.
import { Ago, Day } from '../../ui/ago.tsx';
import { Confidence } from '../../ui/badge.tsx';
import { minor, textColumn } from '../../ui/table/columns.ts';
import type { Column } from '../../ui/table/data-table.tsx';
import { CategoryLink, DomainLink, ProviderLink } from './links.tsx';

export const domainColumn: Column<{ readonly domain: string }> = textColumn('Domain', 'domain', (domain) => (
  <DomainLink domain={domain} />
));

export const providerColumn: Column<{ readonly provider: string; readonly provider_id: string }> = textColumn(
  'Provider',
  'provider',
  (provider, { provider_id: id }) => <ProviderLink id={id} name={provider} />,
);

/** The column of a product, which is a provider. */
export const productColumn: Column<{ readonly product: string; readonly product_id: string }> = textColumn(
  'Product',
  'product',
  (product, { product_id: id }) => <ProviderLink id={id} name={product} />,
);

export const categoryColumn: Column<{ readonly category: string }> = textColumn('Category', 'category', (category) => (
  <CategoryLink category={category} />
));

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

/** When and how certainly a change was confirmed. */
export const confirmedColumns: readonly Column<{ readonly confirmed_at: string; readonly confidence: string }>[] = [
  textColumn('Confirmed', 'confirmed_at', (at) => <Day at={at} />),
  minor({ name: 'Confidence', cell: ({ confidence }) => <Confidence level={confidence} /> }),
];

/** The time of the last scan. */
export const scannedColumn: Column<{ readonly scanned_at: string }> = textColumn('Last scanned', 'scanned_at', (at) => (
  <Ago at={at} className="nowrap" />
));
