// The domain page: stack with evidence, history, posture, risk, advisories and feeds.
import { getRouteApi, Link } from '@tanstack/react-router';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { DomainAdvisories } from './cards/domain-advisories.tsx';
import { DomainFeeds } from './cards/domain-feeds.tsx';
import { DomainHistory } from './cards/domain-history.tsx';
import { DomainPosture } from './cards/domain-posture.tsx';
import { DomainRisk } from './cards/domain-risk.tsx';
import { DomainStack } from './cards/domain-stack.tsx';
import { LatestChanges } from './cards/timeline.tsx';
import { DomainHead, DomainState } from './domain-head.tsx';
import { DomainUnknown } from './domain-unknown.tsx';
import { hostOf } from './host-of.ts';
import type { Profile } from './profile.ts';
import './domain.css';

const route = getRouteApi('/domain/$domain');

/** The other tabs load their data when they are opened. */
const TABS = [
  ['stack', 'Stack'],
  ['history', 'History'],
  ['posture', 'Posture'],
  ['risk', 'Risk'],
  ['advisories', 'Advisories'],
  ['feeds', 'Feeds'],
] as const;
type Tab = (typeof TABS)[number][0];

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
        <Answer query={query} lines={10}>
          {(body, answer) => (
            <>
              <DomainState profile={body} />
              <DomainHead profile={body} />
              <Tabs chosen={tab} domain={typed} />
              {tab === 'stack' && (
                <div className="domain-columns">
                  <DomainStack host={host} answer={answer} />
                  <LatestChanges domain={body.domain} link={typed} />
                </div>
              )}
              {tab === 'history' && <DomainHistory domain={body.domain} search={search} />}
              {tab === 'posture' && <DomainPosture host={host} answer={answer} />}
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

function Tabs({ chosen, domain }: { readonly chosen: Tab; readonly domain: string }) {
  return (
    <nav className="domain-tabs" aria-label="Sections of this domain">
      <ul>
        {TABS.map(([tab, name]) => (
          <li key={tab}>
            <Link
              to="/domain/$domain"
              params={{ domain }}
              search={tab === 'stack' ? {} : { tab }}
              // All tabs have the same path: the `tab` parameter distinguishes them.
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={tab === chosen ? 'page' : undefined}
              resetScroll={false}
              preload={false}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
