// The mentions of a domain in feeds.
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatCount, formatDay } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { MentioningFeeds, MentionsChart } from '../feeds/mentions.tsx';
import { windowName } from '../feeds/windows.ts';

export function DomainFeeds({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Mentions in feeds" path="/stack/v1/feeds/domain/{domain}" input={{ path: { domain } }}>
      {(body) =>
        body.mentions === 0 ? (
          <Empty>No feed mentions this domain.</Empty>
        ) : (
          <>
            <Figures>
              {body.windows.map(({ window, mentions, feeds, change }) => (
                <Figure
                  key={window}
                  name={windowName(window)}
                  value={mentions}
                  note={`by ${formatCount(feeds, 'feed')}, change ${formatChange(change)}`}
                />
              ))}
              <Figure
                name="Total"
                value={body.mentions}
                note={body.first_seen && `since ${formatDay(body.first_seen)}`}
              />
            </Figures>
            <MentionsChart label={`Mentions of ${body.domain} per day, last 30 days`} days={body.per_day} />
            <MentioningFeeds body={body} />
          </>
        )
      }
    </AnswerCard>
  );
}
