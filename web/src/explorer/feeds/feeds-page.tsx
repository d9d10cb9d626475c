// The feeds page: statistics of all feeds, and the mentions of one domain.
import './feeds.css';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatDay, formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import { Answer, AnswerCard } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { FeedSummary } from './feed-summary.tsx';
import { Leaderboard, WINDOWS, type Window, WindowLinks } from './leaderboard.tsx';
import { MentioningFeeds } from './mentioning-feeds.tsx';
import { MentionsChart } from './mentions-chart.tsx';
import { ScannedStack } from './scanned-stack.tsx';

const DOMAIN = '/stack/v1/feeds/domain/{domain}';
const MAX_LEADERS = 50;

export function Feeds() {
  const search: Readonly<Record<string, string>> = useSearch({ from: '/feeds' });
  // The service rejects unknown windows.
  const window = (search.window ?? '7d') as Window;
  const input = { query: { window, limit: MAX_LEADERS } };
  const windowName = WINDOWS.find(([name]) => name === window)?.[1] ?? window;
  return (
    <Page title="Feeds" lead="Company domains mentioned in the feeds that this service polls.">
      <AnswerCard title="All feeds" path="/stack/v1/feeds/stats" input={{}} lines={10}>
        {(body) => <FeedSummary stats={body} />}
      </AnswerCard>
      <AnswerCard
        title={<span id="leaders">Most mentioned: {windowName.toLowerCase()}</span>}
        path="/stack/v1/feeds/leaderboard"
        input={input}
        keepsLast="any"
        lines={12}
        actions={<WindowLinks shown={window} />}
      >
        {({ domains, total, mentions }) =>
          domains.length === 0 ? (
            <Empty>No domain was mentioned in this period.</Empty>
          ) : (
            <>
              <p className="small soft">
                {formatNumber(domains.length)} of {formatNumber(total)} domains with {formatNumber(mentions)} mentions.
                Change is relative to the preceding period of the same length.
              </p>
              <Leaderboard leaders={domains} />
            </>
          )
        }
      </AnswerCard>
    </Page>
  );
}

export function FeedDomain() {
  const { domain } = useParams({ from: '/feeds/$domain' });
  const input = { path: { domain } };
  const profile = useStack(DOMAIN, input);
  return (
    <Page
      title={`${profile.data?.body.domain ?? domain} in feeds`}
      lead={<Link to="/feeds">All feeds</Link>}
      actions={
        <Link to="/domain/$domain" params={{ domain }} className="button">
          View stack and history
        </Link>
      }
    >
      <Answer query={profile} lines={12}>
        {(body, answer) => (
          <>
            <Card title="Mentions" foot={<Source path={DOMAIN} input={input} answer={answer} />}>
              <Figures>
                <Figure name="Mentions" note="in all stored items">
                  {formatNumber(body.mentions)}
                </Figure>
                <Figure name="Feeds">
                  <a href="#feeds">{formatNumber(body.total)}</a>
                </Figure>
                <Figure name="First mention" note={formatTime(body.first_seen)}>
                  {formatDay(body.first_seen)}
                </Figure>
                <Figure name="Last mention" note={formatTime(body.last_seen)}>
                  {formatDay(body.last_seen)}
                </Figure>
              </Figures>
              <h3 className="part-head">Mentions per day</h3>
              <MentionsChart label={`Mentions of ${body.domain} per day, last 30 days`} days={body.per_day} />
            </Card>
            <Card title="Change by period" width="half">
              <DataTable
                caption={`Mentions of ${body.domain} by period`}
                rows={body.windows}
                keyOf={(row) => row.window}
                columns={[
                  { name: 'Period', cell: (row) => WINDOWS.find(([name]) => name === row.window)?.[1] ?? row.window },
                  { name: 'Mentions', isNumber: true, cell: ({ mentions }) => formatNumber(mentions) },
                  { name: 'Previous', isNumber: true, cell: ({ previous }) => formatNumber(previous) },
                  { name: 'Change', isNumber: true, cell: ({ change }) => formatChange(change) },
                  { name: 'Feeds', isNumber: true, cell: ({ feeds }) => formatNumber(feeds) },
                ]}
              />
            </Card>
            <Card title="Stack" width="half">
              <ScannedStack domain={body.domain} scanned={body.scanned} />
            </Card>
            <Card title={<span id="feeds">Feeds that mention it</span>}>
              {body.feeds.length === 0 ? (
                <Empty>No polled feed has mentioned it.</Empty>
              ) : (
                <>
                  {body.total > body.feeds.length && (
                    <p className="small soft">
                      Showing the {formatNumber(body.feeds.length)} of {formatNumber(body.total)} feeds with the most
                      mentions.
                    </p>
                  )}
                  <MentioningFeeds feeds={body.feeds} />
                </>
              )}
            </Card>
          </>
        )}
      </Answer>
    </Page>
  );
}
