// The whole history of a domain: every transition, page by page, of all categories or of one.
import type { Change } from '@strata/client';
import { useNavigate } from '@tanstack/react-router';
import { Card } from '../../ui/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer.tsx';
import { Source } from '../source.tsx';
import { useStack } from '../use-stack.ts';
import { Pager } from './pager.tsx';
import { CATEGORIES } from './profile.ts';
import { searchWith } from './search-with.ts';
import { CHANGES_PAGE, Timeline } from './timeline.tsx';

interface HistoryProps {
  readonly domain: string;
  readonly search: Readonly<Record<string, string>>;
}

export function DomainHistory({ domain, search }: HistoryProps) {
  const offset = Math.max(0, Math.trunc(Number(search.offset)) || 0);
  const input = { path: { domain }, query: { limit: CHANGES_PAGE, offset } };
  const query = useStack('/stack/v1/domains/{domain}/changes', input, { keepsLast: true });
  const { category } = search;
  return (
    <Card
      title="History"
      actions={<CategoryFilter changes={query.data?.body.changes ?? []} chosen={category ?? ''} />}
      foot={query.data && <Source path="/stack/v1/domains/{domain}/changes" input={input} answer={query.data} />}
    >
      <Answer query={query} lines={8}>
        {({ changes, total }) => {
          const shown = category ? changes.filter((change) => change.category === category) : changes;
          return (
            <>
              {category && (
                <p className="small soft" role="status">
                  {formatNumber(shown.length)} of {formatNumber(changes.length)} changes
                  {total > changes.length && ' on this page'} are in {formatName(category)}.
                </p>
              )}
              {category && shown.length === 0 ? (
                <Empty>Nothing has changed in this category.</Empty>
              ) : (
                <Timeline changes={shown} />
              )}
              <Pager offset={offset} limit={CHANGES_PAGE} total={total} search={search} domain={domain} />
            </>
          );
        }}
      </Answer>
    </Card>
  );
}

function CategoryFilter({ changes, chosen }: { readonly changes: readonly Change[]; readonly chosen: string }) {
  const navigate = useNavigate({ from: '/domain/$domain' });
  const counts = Map.groupBy(changes, ({ category }) => category);
  const shown = CATEGORIES.filter((category) => counts.has(category) || category === chosen);
  return (
    <label className="domain-filter">
      Category
      <select
        value={chosen}
        onChange={({ target }) =>
          void navigate({ search: (before) => searchWith(before, { category: target.value }), resetScroll: false })
        }
      >
        <option value="">All</option>
        {shown.map((category) => (
          <option key={category} value={category}>
            {formatName(category)} ({formatNumber(counts.get(category)?.length ?? 0)})
          </option>
        ))}
      </select>
    </label>
  );
}
