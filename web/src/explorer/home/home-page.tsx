// The home page: introduction, search and a live example; with an API key also key figures and the latest alerts.
import './home.css';
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { FreeKey } from '../../ui/controls/free-key.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { AlertList } from '../alerts/alert-list.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { getFreeKey, useKey } from '../answer/session.ts';
import { Page } from '../frame/page.tsx';
import { useAreShortcutsOn } from '../frame/shortcuts.ts';
import { DomainLink, ProviderChips } from '../links/links.tsx';
import { SearchBox } from '../search/search-box.tsx';
import { useSite } from '../site.ts';

/** Path, name and description. */
const SECTIONS = [
  ['/market', 'Market', 'Market share, concentration and leaders by category'],
  ['/migrations', 'Migrations', 'Domains that changed their provider'],
  ['/security', 'Security', 'Adoption of mail, DNS and web security standards, by sector'],
  ['/advisories', 'Advisories', 'Known vulnerabilities and affected domains'],
  ['/feeds', 'Feeds', 'Domains mentioned in the news, with their stacks'],
  ['/live', 'Live', 'Real-time stream of confirmed changes'],
  ['/compare', 'Compare', 'Compare two to five domains or providers'],
  ['/start', 'API', 'API key, first requests, receipts'],
] as const;

export function Home() {
  const key = useKey();
  const { exampleDomain: example, chatUrl } = useSite();
  const areShortcutsOn = useAreShortcutsOn();
  // The example is shown on the first visit only: on later visits it would just use a request.
  const [isFirstVisit] = useState(key === undefined);
  return (
    <div className="home">
      <Page
        title="What does a company’s domain run on?"
        lead="Hosting, mail, DNS, CDN, security and more: find out which providers a domain uses and since when, with evidence from public records, confidence and history. Every answer is signed, and you can verify it in your browser."
      >
        <div className="stack">
          <SearchBox isLarge />
          <p className="small soft">
            {example !== undefined && (
              <>
                Example: <DomainLink domain={example} />{' '}
              </>
            )}
            {areShortcutsOn && (
              <span className="home-keys">
                Press <kbd>/</kbd> to search from any page, <kbd>?</kbd> for all shortcuts.
              </span>
            )}
          </p>
        </div>
        {isFirstVisit &&
          example !== undefined &&
          (key === undefined ? <ExamplePlaceholder domain={example} /> : <Example domain={example} />)}
        {key === undefined ? <Features /> : <Overview />}
        <Card title="Explore">
          <ul className="link-list">
            {SECTIONS.map(([to, name, text]) => (
              <li key={to}>
                <Link to={to}>{name}</Link>
                <span className="small soft">{text}</span>
              </li>
            ))}
            {chatUrl !== undefined && (
              <li>
                <a href={chatUrl}>Chat</a>
                <span className="small soft">
                  Chat with a model on contributed hardware; answers are signed as well
                </span>
              </li>
            )}
          </ul>
        </Card>
      </Page>
    </div>
  );
}

/** Title and description. */
const FEATURES = [
  [
    'Look up a domain',
    'See its providers by category, with the evidence for each, and its history since the first scan.',
  ],
  ['Look up a provider', 'See its customers, gains and losses, and where customers moved.'],
  [
    'Verify an answer',
    'Every answer has a receipt. Your browser verifies the signature and the entry in the public log, step by step.',
  ],
] as const;

/** The main features, for visitors without an API key. */
function Features() {
  return (
    <Card title="What you can do" width="half">
      <ol className="numbered stack">
        {FEATURES.map(([title, text]) => (
          <li key={title}>
            <h3>{title}</h3>
            <p className="soft">{text}</p>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** Shown instead of the example while there is no API key. */
function ExamplePlaceholder({ domain }: { readonly domain: string }) {
  return (
    <Card title={`Live example: ${domain}`} width="half">
      <div className="stack">
        <p>
          Get a free API key to see the stack of this domain, its security grade, and a receipt that you can verify. No
          account needed: 50 requests a day. The key is stored in this browser.
        </p>
        <FreeKey create={getFreeKey} />
        <p className="small soft">
          Already have a key? <Link to="/start">Enter it</Link>
        </p>
      </div>
    </Card>
  );
}

/** Requests the profile once and shows it with its receipt. */
function Example({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard
      title={`Live example: ${domain}`}
      path="/stack/v1/domains/{domain}"
      input={{ path: { domain } }}
      isOpen
      actions={<DomainLink domain={domain}>Evidence and history</DomainLink>}
    >
      {(profile) => <ShortProfile profile={profile} />}
    </AnswerCard>
  );
}

function ShortProfile({ profile }: { readonly profile: StackPaths['/stack/v1/domains/{domain}']['body'] }) {
  const { domain, security, services, scanned_at: scannedAt } = profile;
  return (
    <div className="stack">
      <p>
        <DomainLink domain={domain}>
          Security <Grade grade={security.grade} />
        </DomainLink>{' '}
        <span className="soft">
          {formatNumber(security.score)} of 100 points · scanned <Ago at={scannedAt} />
        </span>
      </p>
      <ProviderChips services={services} />
    </div>
  );
}

const PERIODS = [
  ['24 hours', '24', 'last_24h'],
  ['7 days', '168', 'last_7d'],
  ['30 days', '720', 'last_30d'],
] as const;

/** Key figures and the latest alerts. */
function Overview() {
  return (
    <>
      <AnswerCard title="Overview" path="/stack/v1/stats" input={{}}>
        {({ domains, domains_by_state: states, services, providers, migrations }) => (
          <Figures>
            <Figure name="Domains" note={`${formatNumber(states.active)} active`}>
              <Link to="/search">{formatNumber(domains)}</Link>
            </Figure>
            <Figure name="Services in use">
              <Link to="/market">{formatNumber(services)}</Link>
            </Figure>
            <Figure name="Providers in use">
              <Link to="/market">{formatNumber(providers)}</Link>
            </Figure>
            {PERIODS.map(([name, hours, count]) => (
              <Figure key={name} name={`Migrations, ${name}`}>
                <Link to="/migrations" search={{ hours }}>
                  {formatNumber(migrations[count])}
                </Link>
              </Figure>
            ))}
          </Figures>
        )}
      </AnswerCard>
      <AnswerCard
        title="Latest alerts"
        path="/stack/v1/alerts"
        input={{ query: { limit: 5 } }}
        actions={<Link to="/alerts">All alerts</Link>}
      >
        {({ alerts }) => (alerts.length === 0 ? <Empty>No alerts yet.</Empty> : <AlertList alerts={alerts} />)}
      </AnswerCard>
    </>
  );
}
