// The transitions of a domain as a timeline, latest first, grouped by day.
import type { Change } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Badge } from '../../../ui/badge.tsx';
import { formatDay, formatName, formatNumber, formatTime } from '../../../ui/formats.ts';
import { Empty } from '../../../ui/states.tsx';
import { AnswerCard } from '../../answer/answer.tsx';

/** Changes per page of the history; the latest changes come from the same answer. */
export const CHANGES_PAGE = 100;
const LATEST = 5;

/** A sign, so that the kind is recognizable without colour, and a verb. */
const KINDS: Readonly<Record<Change['type'], readonly [string, string]>> = {
  added: ['+', 'added'],
  removed: ['−', 'removed'],
  migrated: ['→', 'migrated'],
  reclassified: ['≈', 'reclassified'],
};

/** The latest changes, with a link to the complete history. */
export function LatestChanges({ domain, link }: { readonly domain: string; readonly link: string }) {
  const input = { path: { domain }, query: { limit: CHANGES_PAGE, offset: 0 } };
  return (
    <AnswerCard title="Latest changes" path="/stack/v1/domains/{domain}/changes" input={input}>
      {({ changes, total }) => (
        <>
          <Timeline changes={changes.slice(0, LATEST)} />
          {total > 0 && (
            <p className="domain-more">
              <Link to="/domain/$domain" params={{ domain: link }} search={{ tab: 'history' }} resetScroll={false}>
                {total === 1 ? 'View history' : `View all ${formatNumber(total)} changes`}
              </Link>
            </p>
          )}
        </>
      )}
    </AnswerCard>
  );
}

export function Timeline({ changes }: { readonly changes: readonly Change[] }) {
  if (changes.length === 0) return <Empty>No changes since the first scan.</Empty>;
  const days = Map.groupBy(changes, ({ at }) => at.slice(0, 10));
  return (
    <ol className="timeline">
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
        <p className="small soft transition-notes">
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
  if (id === null) return <strong>{name}</strong>;
  return (
    <Link to="/provider/$provider" params={{ provider: id }}>
      <strong>{name}</strong>
    </Link>
  );
}
