// The ways to the pages before and after of a list on a domain's page.
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { searchWith } from './search-with.ts';

interface PagerProps {
  readonly domain: string;
  readonly search: Readonly<Record<string, string>>;
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
}

export function Pager({ domain, search, offset, limit, total }: PagerProps) {
  if (total <= limit && offset === 0) return null;
  const to = (start: number, name: string) => (
    <Link
      className="button small"
      to="/domain/$domain"
      params={{ domain }}
      search={searchWith(search, { offset: start === 0 ? '' : String(start) })}
      preload={false}
    >
      {name}
    </Link>
  );
  return (
    <nav className="domain-pager" aria-label="Pages of this list">
      <span className="small soft">
        {formatNumber(Math.min(offset + 1, total))}–{formatNumber(Math.min(offset + limit, total))} of{' '}
        {formatNumber(total)}
      </span>
      {offset > 0 && to(Math.max(0, offset - limit), 'Before')}
      {offset + limit < total && to(offset + limit, 'Next')}
    </nav>
  );
}
