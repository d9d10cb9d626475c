// Links to provider and domain pages.
import { Link } from '@tanstack/react-router';

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
