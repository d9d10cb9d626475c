// Links to the pages of domains, providers, categories and advisories, and from counts to the lists behind them.
import type { StackInput } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { withChanges } from './search-params.ts';

interface DomainLinkProps {
  readonly domain: string;
  /** The opened tab. */
  readonly tab?: string;
  readonly className?: string;
  readonly children?: ReactNode;
}

export function DomainLink({ domain, tab, className, children = <Breakable domain={domain} /> }: DomainLinkProps) {
  return (
    <Link to="/domain/$domain" params={{ domain }} search={withChanges({}, { tab })} className={className}>
      {children}
    </Link>
  );
}

/** A name that breaks before its last label, where it has to. */
function Breakable({ domain }: { readonly domain: string }) {
  const end = domain.lastIndexOf('.');
  return (
    <>
      {domain.slice(0, end)}
      <wbr />
      {domain.slice(end)}
    </>
  );
}

interface ProviderLinkProps {
  readonly id: string | null;
  readonly name?: string | null | undefined;
  /** The opened tab. */
  readonly tab?: string;
  readonly className?: string;
  readonly children?: ReactNode;
}

/** Plain text if there is no provider id. */
export function ProviderLink({ id, name, tab, className, children = name ?? id }: ProviderLinkProps) {
  if (id === null) return <>{children ?? '–'}</>;
  return (
    <Link to="/provider/$provider" params={{ provider: id }} search={withChanges({}, { tab })} className={className}>
      {children}
    </Link>
  );
}

/** The market of a category. */
export function CategoryLink({ category }: { readonly category: string }) {
  return (
    <Link to="/market" search={{ category }}>
      {formatName(category)}
    </Link>
  );
}

export function AdvisoryLink({ id, children = id }: { readonly id: string; readonly children?: ReactNode }) {
  return (
    <Link to="/advisories" search={{ advisory: id }} className="nowrap">
      {children}
    </Link>
  );
}

interface SubjectLinkProps {
  readonly kind: 'domain' | 'provider' | 'category' | 'advisory' | 'alerts';
  readonly id: string;
  readonly text: string;
}

export function SubjectLink({ kind, id, text }: SubjectLinkProps) {
  switch (kind) {
    case 'domain':
      return <DomainLink domain={id} className="strong" />;
    case 'provider':
      return <ProviderLink id={id} name={text} />;
    case 'category':
      return <CategoryLink category={id} />;
    case 'advisory':
      return <AdvisoryLink id={id} />;
    case 'alerts':
      return <Link to="/alerts">{text}</Link>;
    default:
      return kind satisfies never;
  }
}

interface CustomersLinkProps {
  readonly provider: string;
  readonly direction: 'in' | 'out';
  readonly children: string;
}

/** The gained or lost customers of a provider: domains that started or completely stopped using it. */
export function CustomersLink({ provider, direction, children }: CustomersLinkProps) {
  const search = direction === 'out' ? { tab: 'customers' } : { tab: 'customers', direction };
  return (
    <Link to="/provider/$provider" params={{ provider }} search={search} preload={false}>
      {children}
    </Link>
  );
}

type Query = NonNullable<StackInput<'/stack/v1/search'>['query']>;

interface SearchLinkProps {
  /** The search filter. */
  readonly of: Partial<Record<keyof Query, string | undefined>>;
  readonly title?: string | undefined;
  readonly children: string;
}

/** The domains that match a filter. */
export function SearchLink({ of, title, children }: SearchLinkProps) {
  return (
    <Link to="/search" search={withChanges({}, of)} preload={false} title={title}>
      {children}
    </Link>
  );
}

interface CountLinkProps extends Pick<SearchLinkProps, 'of'> {
  /** The number of domains. */
  readonly count: number | null | undefined;
  /** Shown instead of the number, such as a share. */
  readonly children?: string;
}

/** A number of domains that links to the search with the same filter; without a link if it is unknown. */
export function CountLink({ count, of, children }: CountLinkProps) {
  const text = children ?? formatNumber(count);
  if (count === null || count === undefined) return text;
  return (
    <SearchLink of={of} title={children && formatNumber(count)}>
      {text}
    </SearchLink>
  );
}

/** A category, or one of its roles. */
interface MarketOf {
  readonly category?: string;
  readonly role?: string | null;
}

/** The users of a provider in a market, as counted for shares: low confidence is excluded. */
export function usersIn(
  { category, role }: MarketOf,
  provider: string | undefined,
  includesParked = false,
): SearchLinkProps['of'] {
  const market = role ? { role } : { category };
  return { provider, ...market, min_confidence: 'medium', state: includesParked ? 'live' : 'active' };
}

interface Found {
  readonly category: string;
  readonly provider: string;
  readonly provider_id: string;
}

/** The providers of a domain by category. */
export function ProviderChips({ services }: { readonly services: readonly Found[] }) {
  return (
    <dl className="facts">
      {[...Map.groupBy(services, ({ category }) => category)].map(([category, found]) => (
        <Fragment key={category}>
          <dt>{formatName(category)}</dt>
          <dd className="chips">
            {/* A provider may have several roles in a category. */}
            {[...new Map(found.map(({ provider_id: id, provider }) => [id, provider]))].map(([id, provider]) => (
              <ProviderLink key={id} id={id}>
                <Badge>{provider}</Badge>
              </ProviderLink>
            ))}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
