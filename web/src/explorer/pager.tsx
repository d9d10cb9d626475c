// The ways to the pages before and after of a list. The place in the list stands in the address as `offset`.
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../ui/formats.ts';
import { withChanges } from './search-params.ts';

interface PagerProps {
  /** The address's words as they are now. */
  readonly search: Readonly<Record<string, string | undefined>>;
  /** Rows before this page, on one page at most, and of the whole list. */
  readonly offset: number;
  readonly limit: number;
  readonly total: number;
}

/** The row of an address's `offset` that a page begins with: 0 for whatever is no such number. */
export function offsetOf(text: string | undefined): number {
  return /^\d{1,7}$/.test(text ?? '') ? Number(text) : 0;
}

/** Nothing where all of the list is on one page. */
export function Pager({ search, offset, limit, total }: PagerProps) {
  if (total <= limit && offset === 0) return null;
  const to = (start: number) =>
    ({
      to: '.',
      search: withChanges(search, { offset: start <= 0 ? undefined : String(start) }),
      // Only the very same address is the page one is on.
      activeOptions: { exact: true },
      preload: false,
      className: 'button small',
    }) as const;
  return (
    <nav className="pager actions" aria-label="Pages of the list">
      <span className="small soft">
        {formatNumber(Math.min(offset + 1, total))} to {formatNumber(Math.min(offset + limit, total))} of{' '}
        {formatNumber(total)}
      </span>
      {offset > 0 && (
        <Link {...to(offset - limit)} rel="prev">
          Previous
        </Link>
      )}
      {offset + limit < total && (
        <Link {...to(offset + limit)} rel="next">
          Next
        </Link>
      )}
    </nav>
  );
}
