// Links to the previous and next page of a list. The position is in the URL as `offset`.
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/formats.ts';
import { changed } from './search-params.ts';

interface PagerProps {
  /** Number of rows before this page, and the maximum number of rows per page. */
  readonly offset: number;
  readonly limit: number;
  /** Total number of rows; if it is unknown, the rows of this page and whether more follow. */
  readonly rows: { readonly total: number } | { readonly shown: number; readonly hasMore: boolean };
}

/** The offset in the URL; 0 if it is not a valid number. */
export function offsetOf(text: string | undefined): number {
  return /^\d{1,7}$/.test(text ?? '') ? Number(text) : 0;
}

/** The message of a list without rows, depending on the length of the complete list. */
export const emptyPage = (total: number, message: string): string =>
  total === 0 ? message : 'This page is past the end of the list.';

/** Renders nothing if the complete list is on one page. */
export function Pager({ offset, limit, rows }: PagerProps) {
  const total = 'total' in rows ? rows.total : undefined;
  const end = 'total' in rows ? Math.min(offset + limit, rows.total) : offset + rows.shown;
  const hasMore = 'total' in rows ? end < rows.total : rows.hasMore;
  if (!hasMore && offset === 0) return null;
  // Past the end, “Previous” leads to the last page.
  const previous = Math.min(offset - limit, total === undefined ? offset : Math.floor((total - 1) / limit) * limit);
  return (
    <nav className="pager actions" aria-label="Pagination">
      <span className="small soft">
        {end > offset && `${formatNumber(offset + 1)} to ${formatNumber(end)}`}
        {end > offset && total !== undefined && ` of ${formatNumber(total)}`}
        {total === undefined && hasMore && ' (more available)'}
      </span>
      {offset > 0 && <PageLink rel="prev" offset={previous} />}
      {hasMore && <PageLink rel="next" offset={offset + limit} />}
    </nav>
  );
}

interface CursorPagerProps {
  /** Number of rows before this page and in it, and in the complete list: null if that is unknown. */
  readonly rows: { readonly offset: number; readonly shown: number; readonly total: number | null };
  /** Continues the list after this page. */
  readonly next: string | null;
}

/** The same for a list without offsets: `cursor` in the URL. Earlier pages are in the history of the browser. */
export function CursorPager({ rows: { offset, shown, total }, next }: CursorPagerProps) {
  if (next === null && offset === 0) return null;
  const link = {
    resetScroll: true,
    activeOptions: { exact: true },
    preload: false,
    className: 'button small',
  } as const;
  return (
    <nav className="pager actions" aria-label="Pagination">
      <span className="small soft">
        {shown > 0 && `${formatNumber(offset + 1)} to ${formatNumber(offset + shown)}`}
        {shown > 0 && total !== null && ` of ${formatNumber(total)}`}
      </span>
      {offset > 0 && (
        <Link {...changed({})} {...link}>
          First page
        </Link>
      )}
      {next !== null && (
        <Link {...changed({ cursor: next })} {...link} rel="next">
          Next
        </Link>
      )}
    </nav>
  );
}

function PageLink({ rel, offset }: { readonly rel: 'prev' | 'next'; readonly offset: number }) {
  return (
    <Link
      {...changed({ offset: offset <= 0 ? undefined : String(offset) })}
      resetScroll
      rel={rel}
      // The current page is the one with exactly the same URL.
      activeOptions={{ exact: true }}
      preload={false}
      className="button small"
    >
      {rel === 'prev' ? 'Previous' : 'Next'}
    </Link>
  );
}
