// Names that lead to their own pages.
import { Link } from '@tanstack/react-router';

interface ProviderLinkProps {
  readonly id: string | null;
  readonly name: string | null;
}

/** Where a name has no page of its own (nobody, or somebody unnamed) it is text. */
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
