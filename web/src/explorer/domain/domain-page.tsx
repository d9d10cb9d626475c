// The domain page: stack with evidence, history, posture, risk, advisories and feeds.
import './domain.css';
import type { RiskFactor } from '@strata/client';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Risk } from '../../ui/badge.tsx';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatChange, formatCount, formatDay, formatName, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer, AnswerCard } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { windowName } from '../feeds/leaderboard.tsx';
import { MentioningFeeds, MentionsChart } from '../feeds/mentions.tsx';
import { Page } from '../frame/page.tsx';
import { Choices } from '../links/choices.tsx';
import { DomainRecords } from '../records/domain-records.tsx';
import { DomainAdvisories } from './domain-advisories.tsx';
import { DomainHead, DomainState, type Profile, StaleValues } from './domain-head.tsx';
import { DomainHistory, LatestChanges } from './domain-history.tsx';
import { DomainPosture } from './domain-posture.tsx';
import { DomainStack } from './domain-stack.tsx';
import { DomainUnknown } from './domain-unknown.tsx';
import { hostOf } from './host-of.ts';

const route = getRouteApi('/domain/$domain');

/** The other tabs load their data when they are opened. */
const TABS = [
  ['stack', 'Stack'],
  ['history', 'History'],
  ['records', 'Records'],
  ['posture', 'Posture'],
  ['risk', 'Risk'],
  ['advisories', 'Advisories'],
  ['feeds', 'Feeds'],
] as const;

export function Domain() {
  const { domain: typed } = route.useParams();
  const search = route.useSearch();
  const host = hostOf(typed);
  const tab = TABS.find(([name]) => name === search.tab)?.[0] ?? 'stack';
  const query = useStack('/stack/v1/domains/{domain}', { path: { domain: host } });
  const profile = query.data?.body;
  return (
    <Page
      title={profile?.domain ?? host}
      lead={profile && <ResolvedName typed={typed} profile={profile} />}
      actions={
        profile && (
          <Link className="button" to="/compare" search={{ domains: profile.domain }}>
            Compare
          </Link>
        )
      }
    >
      {query.error?.code === 'unknown_domain' || query.error?.code === 'invalid_domain' ? (
        <DomainUnknown key={host} host={host} problem={query.error} onRetry={() => query.refetch()} />
      ) : (
        <Answer query={query}>
          {(body, source) => (
            <>
              <DomainState state={body.state} />
              <StaleValues {...body} />
              <DomainHead profile={body} />
              <Choices
                label="Sections of this domain"
                choices={TABS}
                chosen={tab}
                byDefault="stack"
                name="tab"
                isExclusive
              />
              {tab === 'stack' && (
                <div className="domain-columns">
                  <DomainStack profile={body} source={source} />
                  <LatestChanges domain={body.domain} />
                </div>
              )}
              {tab === 'history' && <DomainHistory domain={body.domain} search={search} />}
              {tab === 'records' && <DomainRecords domain={body.domain} search={search} />}
              {tab === 'posture' && <DomainPosture security={body.security} source={source} />}
              {tab === 'risk' && <DomainRisk domain={body.domain} />}
              {tab === 'advisories' && <DomainAdvisories domain={body.domain} search={search} />}
              {tab === 'feeds' && <DomainFeeds domain={body.domain} />}
            </>
          )}
        </Answer>
      )}
    </Page>
  );
}

/** Shows the registrable domain if another name was entered. */
function ResolvedName({ typed, profile }: { readonly typed: string; readonly profile: Profile }) {
  if (typed.toLowerCase() === profile.domain) return null;
  return (
    <>
      Showing <strong>{profile.domain}</strong>, the registrable domain of <span className="mono">{typed}</span>.
    </>
  );
}

const COLUMNS: readonly Column<RiskFactor>[] = [
  textColumn('Factor', 'factor', formatName),
  numberColumn('Risk', 'risk'),
  numberColumn('Weight', 'weight', formatShare),
  { name: 'Finding', cell: ({ finding }) => finding },
];

function DomainRisk({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard title="Risk" path="/stack/v1/intelligence/risk/{domain}" input={{ path: { domain } }}>
      {({ score, level, security, vendor_concentration: concentration, method }) => (
        <>
          <Figures>
            <Figure name="Overall" value={score} note={<Risk level={level} />} />
            <Figure name="Security" value={security.score} note={<Risk level={security.level} />} />
            <Figure
              name="Vendor concentration"
              value={concentration.score}
              note={<Risk level={concentration.level} />}
            />
          </Figures>
          <Factors name="Security" factors={security.factors} />
          <Factors name="Vendor concentration" factors={concentration.factors} />
          <p className="small soft">{method} 0 is the lowest risk, 100 the highest.</p>
        </>
      )}
    </AnswerCard>
  );
}

function Factors({ name, factors }: { readonly name: string; readonly factors: readonly RiskFactor[] }) {
  return (
    <>
      <h3 className="part-head">{name}</h3>
      <DataTable
        caption={`Factors of ${name.toLowerCase()}`}
        rows={factors}
        keyOf={({ factor }) => factor}
        columns={COLUMNS}
      />
    </>
  );
}

function DomainFeeds({ domain }: { readonly domain: string }) {
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
