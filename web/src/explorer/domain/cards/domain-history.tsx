// The complete, paginated history of a domain, for all categories or one.
import type { Service } from '@strata/client';
import { useNavigate } from '@tanstack/react-router';
import { Card } from '../../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../../ui/formats.ts';
import { Empty } from '../../../ui/states.tsx';
import { Answer } from '../../answer/answer.tsx';
import { CATEGORIES } from '../../answer/categories.ts';
import { offsetOf, Pager } from '../../answer/pager.tsx';
import { Source } from '../../answer/source.tsx';
import { useStack } from '../../answer/use-stack.ts';
import { oneOf, withChanges } from '../../search/search-params.ts';
import { CHANGES_PAGE, Timeline } from './timeline.tsx';

interface HistoryProps {
  readonly domain: string;
  readonly search: Readonly<Record<string, string>>;
}

export function DomainHistory({ domain, search }: HistoryProps) {
  const offset = offsetOf(search.offset);
  const category = oneOf(search.category, CATEGORIES);
  const input = { path: { domain }, query: { category, limit: CHANGES_PAGE, offset } };
  const query = useStack('/stack/v1/domains/{domain}/changes', input, { keepsLast: 'page' });
  return (
    <Card
      title="History"
      actions={<CategoryFilter counts={query.data?.body.by_category} chosen={category} />}
      foot={query.data && <Source path="/stack/v1/domains/{domain}/changes" input={input} answer={query.data} />}
    >
      <Answer query={query} lines={8}>
        {({ changes, total, by_category: counts }) => {
          const all = counts.reduce((sum, { changes: count }) => sum + count, 0);
          return (
            <>
              {category && (
                <p className="small soft" role="status">
                  {formatNumber(total)} of {formatNumber(all)} changes are in {formatName(category)}.
                </p>
              )}
              {changes.length === 0 && all > 0 ? (
                <Empty>{total === 0 ? 'No changes in this category.' : 'This page is past the end of the list.'}</Empty>
              ) : (
                <Timeline changes={changes} />
              )}
              <Pager offset={offset} limit={CHANGES_PAGE} rows={{ total }} search={search} />
            </>
          );
        }}
      </Answer>
    </Card>
  );
}

interface CategoryFilterProps {
  /** Changes by category, without categories that have none; undefined while loading. */
  readonly counts: readonly { readonly category: Service['category']; readonly changes: number }[] | undefined;
  readonly chosen: Service['category'] | undefined;
}

function CategoryFilter({ counts, chosen }: CategoryFilterProps) {
  const navigate = useNavigate({ from: '/domain/$domain' });
  const known = new Map(counts?.map(({ category, changes }) => [category, changes]));
  const shown = CATEGORIES.filter((category) => known.has(category) || category === chosen);
  return (
    <label className="domain-filter">
      Category
      <select
        value={chosen ?? ''}
        onChange={({ currentTarget }) => {
          const changes = { category: currentTarget.value, offset: undefined };
          void navigate({ search: (before) => withChanges(before, changes), resetScroll: false });
        }}
      >
        <option value="">All</option>
        {shown.map((category) => (
          <option key={category} value={category}>
            {formatName(category)}
            {counts && ` (${formatNumber(known.get(category) ?? 0)})`}
          </option>
        ))}
      </select>
    </label>
  );
}
