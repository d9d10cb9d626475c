// To the domains that began to use a provider at all, or stopped using it altogether: what gains and losses count.
import { Link } from '@tanstack/react-router';

interface CustomersLinkProps {
  /** Id. */
  readonly provider: string;
  readonly direction: 'in' | 'out';
  readonly children: string;
}

export function CustomersLink({ provider, direction, children }: CustomersLinkProps) {
  const search = direction === 'out' ? { tab: 'customers' } : { tab: 'customers', direction };
  return (
    <Link to="/provider/$provider" params={{ provider }} search={search} preload={false}>
      {children}
    </Link>
  );
}
