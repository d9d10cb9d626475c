// The domain page: stack with evidence, history, posture, risk, advisories and feeds.
import { getRouteApi, Link } from '@tanstack/react-router';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { Choices } from '../links/choices.tsx';
import { DomainRecords } from '../records/domain-records.tsx';
import { DomainAdvisories } from './domain-advisories.tsx';
import { DomainFeeds, DomainRisk } from './domain-cards.tsx';
import { DomainHead, DomainState, type Profile } from './domain-head.tsx';
import { DomainHistory, LatestChanges } from './domain-history.tsx';
import { DomainPosture } from './domain-posture.tsx';
import { DomainStack } from './domain-stack.tsx';
import { DomainUnknown } from './domain-unknown.tsx';
import { hostOf } from './host-of.ts';
import './domain.css';

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
