// The feeds page: statistics of all feeds, and the mentions of one domain.
import type { MentionWindow, StackPaths } from '@strata/client';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatDay, formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer, AnswerCard } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { Choices } from '../links/choices.tsx';
import { DomainLink, ProviderChips } from '../links/links.tsx';
import type { Search } from '../links/search-params.ts';
import { Leaderboard, WINDOWS, type Window, windowName } from './leaderboard.tsx';
import { MentioningFeeds, MentionsChart } from './mentions.tsx';

const MAX_LEADERS = 50;

export function Feeds() {
  const search: Search = useSearch({ from: '/feeds' });
  // The service rejects unknown windows.
  const window = (search.window ?? '7d') as Window;
  return (
    <Page title="Feeds" lead="Company domains mentioned in the feeds that this service polls.">
      <AnswerCard title="All feeds" path="/stack/v1/feeds/stats" input={{}}>
        {(body) => <Summary stats={body} />}
      </AnswerCard>
      <AnswerCard
        title={<span id="leaders">Most mentioned: {windowName(window).toLowerCase()}</span>}
        path="/stack/v1/feeds/leaderboard"
        input={{ query: { window, limit: MAX_LEADERS } }}
        keepsLast="any"
        actions={<Choices label="Period" choices={WINDOWS} chosen={window} byDefault="7d" name="window" />}
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

function Summary({ stats }: { readonly stats: StackPaths['/stack/v1/feeds/stats']['body'] }) {
  const { feeds, polled, failing, items, mentions, domains, last_poll, per_day } = stats;
  return (
    <>
      <Figures>
        <Figure
          name="Feeds"
          value={feeds.total}
          note={`${formatNumber(feeds.active)} active, ${formatNumber(feeds.gone)} stopped`}
        />
        <Figure name="Failing" value={failing} note={`of ${formatNumber(polled)} polled so far`} />
        <Figure name="Items" value={items} note="stored" />
        <Figure name="Mentions" value={mentions} note="in these items" />
        <Figure name="Domains" note="mentioned in 30 days">
          <Link to="/feeds" search={{ window: '30d' }} hash="leaders">
            {formatNumber(domains)}
          </Link>
        </Figure>
      </Figures>
      <h3 className="part-head">Mentions per day</h3>
      <MentionsChart label="Mentions of domains per day, last 30 days" days={per_day} />
      <p className="small soft">
        {last_poll === null ? (
          'No feed has been polled yet.'
        ) : (
          <>
            Feeds were last polled <Ago at={last_poll} />.
          </>
        )}{' '}
        Days are in UTC; today is incomplete.
      </p>
    </>
  );
}

const WINDOW_COLUMNS: readonly Column<MentionWindow>[] = [
  { name: 'Period', cell: ({ window }) => windowName(window) },
  numberColumn('Mentions', 'mentions'),
  numberColumn('Previous', 'previous'),
  numberColumn('Change', 'change', formatChange),
  numberColumn('Feeds', 'feeds'),
];

export function FeedDomain() {
  const { domain } = useParams({ from: '/feeds/$domain' });
  const profile = useStack('/stack/v1/feeds/domain/{domain}', { path: { domain } });
  return (
    <Page
      title={`${profile.data?.body.domain ?? domain} in feeds`}
      lead={<Link to="/feeds">All feeds</Link>}
      actions={
        <DomainLink domain={domain} className="button">
          View stack and history
        </DomainLink>
      }
    >
      <Answer query={profile}>
        {(body, source) => (
          <>
            <Card title="Mentions" foot={source}>
              <Figures>
                <Figure name="Mentions" value={body.mentions} note="in all stored items" />
                <Figure name="Feeds">
                  <a href="#feeds">{formatNumber(body.total)}</a>
                </Figure>
                <Figure name="First mention" value={formatDay(body.first_seen)} note={formatTime(body.first_seen)} />
                <Figure name="Last mention" value={formatDay(body.last_seen)} note={formatTime(body.last_seen)} />
              </Figures>
              <h3 className="part-head">Mentions per day</h3>
              <MentionsChart label={`Mentions of ${body.domain} per day, last 30 days`} days={body.per_day} />
            </Card>
            <Card title="Change by period" width="half">
              <DataTable
                caption={`Mentions of ${body.domain} by period`}
                rows={body.windows}
                keyOf={(row) => row.window}
                columns={WINDOW_COLUMNS}
              />
            </Card>
            <Card title="Stack" width="half">
              <ScannedStack domain={body.domain} scanned={body.scanned} />
            </Card>
            <Card title={<span id="feeds">Feeds that mention it</span>}>
              <MentioningFeeds body={body} />
            </Card>
          </>
        )}
      </Answer>
    </Page>
  );
}

type Scanned = Pick<StackPaths['/stack/v1/feeds/domain/{domain}']['body'], 'domain' | 'scanned'>;

/** A short version of the stack; the domain page has the evidence. */
function ScannedStack({ domain, scanned }: Scanned) {
  if (!scanned) {
    return (
      <Empty>
        Not scanned yet. <DomainLink domain={domain}>Scan it now</DomainLink>
      </Empty>
    );
  }
  const { services, state, scanned_at, grade, score } = scanned;
  return (
    <>
      <p className="small soft">
        {formatName(state)} · scanned {formatTime(scanned_at)} · security <Grade grade={grade} />{' '}
        {score !== null && `${formatNumber(score)} of 100`}
      </p>
      {services.length === 0 && <Empty>No providers were detected.</Empty>}
      <ProviderChips services={services} />
    </>
  );
}
