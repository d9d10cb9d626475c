// The history of a domain: its transitions as a timeline, latest first, grouped by day.
import type { Change, StackInput, StackPaths } from '@strata/client';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatDay, formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer, AnswerCard, SourceOf } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { CATEGORIES } from '../links/categories.ts';
import { DomainLink, ProviderLink } from '../links/links.tsx';
import { emptyPage, offsetOf, Pager } from '../links/pager.tsx';
import { Parameter } from '../links/parameter.tsx';
import { oneOf, type Search } from '../links/search-params.ts';

const PATH = '/stack/v1/domains/{domain}/changes';

/** Changes per page of the history; the latest changes come from the same answer. */
const PAGE = 100;
const LATEST = 5;

/** A sign, so that the kind is recognizable without colour, and a verb. */
const KINDS: Readonly<Record<Change['type'], readonly [string, string]>> = {
  added: ['+', 'added'],
  removed: ['−', 'removed'],
  migrated: ['→', 'migrated'],
  reclassified: ['≈', 'reclassified'],
};

/** The latest changes, with a link to the complete history. */
export function LatestChanges({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Latest changes" path={PATH} input={{ path: { domain }, query: { limit: PAGE, offset: 0 } }}>
      {({ changes, total }) => (
        <>
          <Timeline changes={changes.slice(0, LATEST)} />
          {total > 0 && (
            <p className="note">
              <DomainLink domain={domain} tab="history">
                {total === 1 ? 'View history' : `View all ${formatNumber(total)} changes`}
              </DomainLink>
            </p>
          )}
        </>
      )}
    </AnswerCard>
  );
}

/** The complete, paginated history, for all categories or one. */
export function DomainHistory({ domain, search }: { readonly domain: string; readonly search: Search }) {
  const offset = offsetOf(search.offset);
  const category = oneOf(search.category, CATEGORIES);
  const input: StackInput<typeof PATH> = { path: { domain }, query: { category, limit: PAGE, offset } };
  const query = useStack(PATH, input, { keepsLast: 'page' });
  return (
    <Card
      title="History"
      actions={
        <Parameter label="Category" name="category" options={optionsOf(query.data?.body.by_category, category)} />
      }
      foot={query.data && <SourceOf query={query} />}
    >
      <Answer query={query}>
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
                <Empty>{emptyPage(total, 'No changes in this category.')}</Empty>
              ) : (
                <Timeline changes={changes} />
              )}
              <Pager offset={offset} limit={PAGE} rows={{ total }} />
            </>
          );
        }}
      </Answer>
    </Card>
  );
}

type Counts = StackPaths[typeof PATH]['body']['by_category'];

/** The categories that have changes, with their number; only the chosen one while loading. */
function optionsOf(counts: Counts | undefined, chosen: string | undefined) {
  const known = new Map(counts?.map(({ category, changes }) => [category, changes]));
  return CATEGORIES.filter((category) => known.has(category) || category === chosen).map((category) => {
    const count = counts ? ` (${formatNumber(known.get(category) ?? 0)})` : '';
    return [category, formatName(category) + count] as const;
  });
}

function Timeline({ changes }: { readonly changes: readonly Change[] }) {
  if (changes.length === 0) return <Empty>No changes since the first scan.</Empty>;
  const days = Map.groupBy(changes, ({ at }) => at.slice(0, 10));
  return (
    <ol className="timeline stack">
      {[...days].map(([day, ofDay]) => (
        <li key={day}>
          <h3>
            <time dateTime={day}>{formatDay(day)}</time>
          </h3>
          <ol>
            {ofDay.map((change) => (
              <Transition key={change.id} change={change} />
            ))}
          </ol>
        </li>
      ))}
    </ol>
  );
}

function Transition({ change }: { readonly change: Change }) {
  const [sign, verb] = KINDS[change.type];
  return (
    <li className={`transition ${change.type}`}>
      <span className="transition-sign" aria-hidden="true">
        {sign}
      </span>
      <div>
        <p>
          <span className="soft">{formatName(change.category)}</span> {verb}{' '}
          {change.type === 'migrated' || change.type === 'reclassified' ? (
            <>
              <span className="hidden-text">from </span>
              <ProviderName name={change.from} id={change.from_id} /> <span aria-hidden="true">→</span>
              <span className="hidden-text"> to </span> <ProviderName name={change.to} id={change.to_id} />
            </>
          ) : (
            <ProviderName name={change.to ?? change.from} id={change.to_id ?? change.from_id} />
          )}
        </p>
        <p className="small soft row">
          <Badge tone={change.importance === 'high' ? 'accent' : 'plain'}>{change.importance} importance</Badge>
          <span>{change.confidence} confidence</span>
          <span>
            first observed <time dateTime={change.at}>{formatTime(change.at)}</time>
          </span>
          <span>
            confirmed <time dateTime={change.confirmed_at}>{formatTime(change.confirmed_at)}</time>
          </span>
        </p>
      </div>
    </li>
  );
}

function ProviderName({ name, id }: { readonly name: string | null; readonly id: string | null }) {
  if (name === null) return <span className="soft">unknown provider</span>;
  return (
    <ProviderLink id={id}>
      <strong>{name}</strong>
    </ProviderLink>
  );
}
