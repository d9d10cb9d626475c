// The ways to the pages before and after of a list. The place in the list stands in the address as `offset`.
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { withChanges } from '../search/search-params.ts';

interface PagerProps {
  /** The address's words as they are now. */
  readonly search: Readonly<Record<string, string | undefined>>;
  /** Rows before this page, and on one page at most. */
  readonly offset: number;
  readonly limit: number;
  /** Rows of the whole list, or of this page where nobody knows how long the list is: only whether it goes on. */
  readonly rows: { readonly total: number } | { readonly shown: number; readonly hasMore: boolean };
}

/** The row of an address's `offset` that a page begins with: 0 for whatever is no such number. */
export function offsetOf(text: string | undefined): number {
  return /^\d{1,7}$/.test(text ?? '') ? Number(text) : 0;
}

/** Nothing where all of the list is on one page. */
export function Pager({ search, offset, limit, rows }: PagerProps) {
  const total = 'total' in rows ? rows.total : undefined;
  const end = 'total' in rows ? Math.min(offset + limit, rows.total) : offset + rows.shown;
  const hasMore = 'total' in rows ? end < rows.total : rows.hasMore;
  if (!hasMore && offset === 0) return null;
  // From beyond the end the way leads back to the last page.
  const previous = Math.min(offset - limit, total === undefined ? offset : Math.floor((total - 1) / limit) * limit);
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
        {end > offset && `${formatNumber(offset + 1)} to ${formatNumber(end)}`}
        {end > offset && total !== undefined && ` of ${formatNumber(total)}`}
        {total === undefined && hasMore && ', and more'}
      </span>
      {offset > 0 && (
        <Link {...to(previous)} rel="prev">
          Previous
        </Link>
      )}
      {hasMore && (
        <Link {...to(offset + limit)} rel="next">
          Next
        </Link>
      )}
    </nav>
  );
}
