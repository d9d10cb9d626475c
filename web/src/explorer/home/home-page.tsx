// The home page: introduction, search and a live example; with an API key also key figures and the latest alerts.
import './home.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Ago } from '../../ui/ago.tsx';
import { Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { useKey } from '../answer/session.ts';
import { Page } from '../frame/page.tsx';
import { useAreShortcutsOn } from '../frame/shortcuts.ts';
import { SearchBox } from '../search/search-box.tsx';
import { useSite } from '../site.ts';
import { Example, ExamplePlaceholder } from './home-example.tsx';

const ALERTS = { query: { limit: 5 } } as const;

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
        <div className="home-search">
          <SearchBox isLarge />
          <p className="small soft">
            {example !== undefined && (
              <>
                Example:{' '}
                <Link to="/domain/$domain" params={{ domain: example }} preload={false}>
                  {example}
                </Link>{' '}
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
                <Link to={to} preload={false}>
                  {name}
                </Link>
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

/** The main features, for visitors without an API key. */
function Features() {
  return (
    <Card title="What you can do" width="half">
      <ol className="home-features">
        <Feature title="Look up a domain">
          See its providers by category, with the evidence for each, and its history since the first scan.
        </Feature>
        <Feature title="Look up a provider">See its customers, gains and losses, and where customers moved.</Feature>
        <Feature title="Verify an answer">
          Every answer has a receipt. Your browser verifies the signature and the entry in the public log, step by step.
        </Feature>
      </ol>
    </Card>
  );
}

function Feature({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <li>
      <h3>{title}</h3>
      <p className="soft">{children}</p>
    </li>
  );
}

/** Key figures and the latest alerts. */
function Overview() {
  return (
    <>
      <AnswerCard title="Overview" path="/stack/v1/stats" input={{}} lines={3}>
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
            <Figure name="Migrations, 24 hours">
              <Link to="/migrations" search={{ hours: '24' }}>
                {formatNumber(migrations.last_24h)}
              </Link>
            </Figure>
            <Figure name="Migrations, 7 days">
              <Link to="/migrations" search={{ hours: '168' }}>
                {formatNumber(migrations.last_7d)}
              </Link>
            </Figure>
            <Figure name="Migrations, 30 days">
              <Link to="/migrations" search={{ hours: '720' }}>
                {formatNumber(migrations.last_30d)}
              </Link>
            </Figure>
          </Figures>
        )}
      </AnswerCard>
      <AnswerCard
        title="Latest alerts"
        path="/stack/v1/alerts"
        input={ALERTS}
        lines={5}
        actions={
          <Link to="/alerts" preload={false}>
            All alerts
          </Link>
        }
      >
        {({ alerts: found }) =>
          found.length === 0 ? (
            <Empty>No alerts yet.</Empty>
          ) : (
            <ul className="home-alerts">
              {found.map(({ id, at, severity, title, detail, provider, provider_id: providerId }) => (
                <li key={id}>
                  <Severity level={severity} />
                  <div>
                    <p>{title}</p>
                    <p className="small soft">{detail}</p>
                  </div>
                  <p className="small soft">
                    {providerId && (
                      <Link to="/provider/$provider" params={{ provider: providerId }} preload={false}>
                        {provider}
                      </Link>
                    )}{' '}
                    <Ago at={at} />
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </AnswerCard>
    </>
  );
}
