// The mentions of a domain in feeds.
import type { StackPaths } from '@strata/client';
import { Figure, Figures } from '../../../ui/card/card.tsx';
import { formatChange, formatDay, formatNumber } from '../../../ui/formats.ts';
import { Empty } from '../../../ui/states.tsx';
import { AnswerCard } from '../../answer/answer.tsx';
import { WINDOWS } from '../../feeds/leaderboard.tsx';
import { MentioningFeeds } from '../../feeds/mentioning-feeds.tsx';
import { MentionsChart } from '../../feeds/mentions-chart.tsx';

type Body = StackPaths['/stack/v1/feeds/domain/{domain}']['body'];

export function DomainFeeds({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Mentions in feeds" path="/stack/v1/feeds/domain/{domain}" input={{ path: { domain } }} lines={8}>
      {(body) => (body.mentions === 0 ? <Empty>No feed mentions this domain.</Empty> : <Mentions body={body} />)}
    </AnswerCard>
  );
}

function Mentions({ body }: { readonly body: Body }) {
  return (
    <>
      <Figures>
        {body.windows.map(({ window, mentions, feeds, change }) => (
          <Figure
            key={window}
            name={WINDOWS.find(([id]) => id === window)?.[1] ?? window}
            note={`by ${formatNumber(feeds)} ${feeds === 1 ? 'feed' : 'feeds'}, change ${formatChange(change)}`}
          >
            {formatNumber(mentions)}
          </Figure>
        ))}
        <Figure name="Total" note={body.first_seen ? `since ${formatDay(body.first_seen)}` : undefined}>
          {formatNumber(body.mentions)}
        </Figure>
      </Figures>
      <MentionsChart label={`Mentions of ${body.domain} per day, last 30 days`} days={body.per_day} />
      <MentioningFeeds feeds={body.feeds} />
      {body.total > body.feeds.length && (
        <p className="small soft">
          Showing the {formatNumber(body.feeds.length)} of {formatNumber(body.total)} feeds with the most mentions.
        </p>
      )}
    </>
  );
}
