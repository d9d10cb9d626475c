// One domain: what it runs and why that is claimed, what changed, how it is protected, and what is known of it elsewhere.
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
import { DomainAbsent } from './domain-absent.tsx';
import { DomainHead, DomainState } from './domain-head.tsx';
import { hostOf } from './host-of.ts';
import type { Profile } from './profile.ts';
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
