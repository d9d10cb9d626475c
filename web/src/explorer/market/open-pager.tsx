// The ways through a list of which nobody knows how long it is: only whether it goes on.
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { withChanges } from '../search-params.ts';

interface OpenPagerProps {
  /** The address's words as they are now. */
  readonly search: Readonly<Record<string, string>>;
  /** Rows before this page, on it, and on a whole one. */
  readonly offset: number;
  readonly shown: number;
  readonly limit: number;
  readonly hasMore: boolean;
}

/** Nothing where all of the list is on one page. */
export function OpenPager({ search, offset, shown, limit, hasMore }: OpenPagerProps) {
  if (!hasMore && offset === 0) return null;
  const to = (start: number) => withChanges(search, { offset: start <= 0 ? undefined : String(start) });
  return (
    <nav className="pager actions" aria-label="Pages of the list">
      <span className="small soft">
        {formatNumber(offset + 1)} to {formatNumber(offset + shown)}
        {hasMore && ', and more'}
      </span>
      {offset > 0 && (
        <Link to="." search={to(offset - limit)} preload={false} className="button small" rel="prev">
          Previous
        </Link>
      )}
      {hasMore && (
        <Link to="." search={to(offset + limit)} preload={false} className="button small" rel="next">
          Next
        </Link>
      )}
    </nav>
  );
}
