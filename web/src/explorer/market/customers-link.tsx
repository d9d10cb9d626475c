// A link to the gained or lost customers of a provider: domains that started or completely stopped using it.
import { Link } from '@tanstack/react-router';

interface CustomersLinkProps {
  /** Provider id. */
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
