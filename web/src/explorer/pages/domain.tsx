// One domain: what it runs and why that is claimed, what changed, how it is protected, and what is known of it elsewhere.
import { getRouteApi, Link } from '@tanstack/react-router';
import { Answer } from '../answer.tsx';
import { DomainAbsent } from '../domain/domain-absent.tsx';
import { DomainAdvisories } from '../domain/domain-advisories.tsx';
import { DomainFeeds } from '../domain/domain-feeds.tsx';
import { DomainHead, DomainState } from '../domain/domain-head.tsx';
import { DomainHistory } from '../domain/domain-history.tsx';
import { DomainPosture } from '../domain/domain-posture.tsx';
import { DomainRisk } from '../domain/domain-risk.tsx';
import { DomainStack } from '../domain/domain-stack.tsx';
import { hostOf } from '../domain/host-of.ts';
import type { Profile } from '../domain/profile.ts';
import { LatestChanges } from '../domain/timeline.tsx';
import { Page } from '../page.tsx';
import { useStack } from '../use-stack.ts';
import './domain.css';

const route = getRouteApi('/domain/$domain');

/** Only the first asks for the profile and the latest changes; the others ask when they are opened. */
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
      lead={profile && <Answered typed={typed} profile={profile} />}
      actions={
        profile && (
          <Link className="button" to="/compare" search={{ domains: profile.domain }}>
            Compare
          </Link>
        )
      }
    >
      {query.error?.code === 'unknown_domain' || query.error?.code === 'invalid_domain' ? (
        <DomainAbsent key={host} host={host} problem={query.error} onRetry={() => query.refetch()} />
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

/** Says which name the answer is for, where another was typed. */
function Answered({ typed, profile }: { readonly typed: string; readonly profile: Profile }) {
  if (typed.toLowerCase() === profile.domain) return null;
  return (
    <>
      Answered for <strong>{profile.domain}</strong>, to which <span className="mono">{typed}</span> belongs.
    </>
  );
}

function Tabs({ chosen, domain }: { readonly chosen: Tab; readonly domain: string }) {
  return (
    <nav className="domain-tabs" aria-label="Parts of this domain">
      <ul>
        {TABS.map(([tab, name]) => (
          <li key={tab}>
            <Link
              to="/domain/$domain"
              params={{ domain }}
              search={tab === 'stack' ? {} : { tab }}
              // The path is that of every tab: the search tells them apart, and other words of it do not matter.
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
