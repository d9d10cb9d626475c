// Links to provider, domain, category and customer pages.
import { Link } from '@tanstack/react-router';
import { formatName } from '../../ui/formats.ts';

interface ProviderLinkProps {
  readonly id: string | null;
  readonly name: string | null;
}

/** Plain text if there is no provider id. */
export function ProviderLink({ id, name }: ProviderLinkProps) {
  if (id === null) return <>{name ?? '–'}</>;
  return (
    <Link to="/provider/$provider" params={{ provider: id }}>
      {name ?? id}
    </Link>
  );
}

export function DomainLink({ domain }: { readonly domain: string }) {
  return (
    <Link to="/domain/$domain" params={{ domain }}>
      {domain}
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

interface CustomersLinkProps {
  /** Provider id. */
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
