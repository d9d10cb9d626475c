// The first page: what this is, the search, and a live example; with a key also what has happened lately.
import './home.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Ago } from '../../ui/ago.tsx';
import { Severity } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { useKey } from '../answer/session.ts';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { useAreShortcutsOn } from '../frame/shortcuts.ts';
import { SearchBox } from '../search/search-box.tsx';
import { useSite } from '../site.ts';
import { Example, ExamplePromise } from './home-example.tsx';

const ALERTS = { query: { limit: 5 } } as const;

/** Path, name, and what is to be found there. */
const SECTIONS = [
  ['/market', 'Market', 'Shares, concentration and leaders of each category'],
  ['/migrations', 'Migrations', 'Who left whom, and where they went'],
  ['/security', 'Security', 'How mail, DNS and the web are protected, by sector'],
  ['/advisories', 'Advisories', 'Known vulnerabilities and the domains they concern'],
  ['/feeds', 'Feeds', 'Domains in the news, with their stacks'],
  ['/live', 'Live', 'Changes as they are seen'],
  ['/compare', 'Compare', 'Two to five domains or providers side by side'],
  ['/start', 'API', 'Your key, first requests, receipts'],
] as const;

export function Home() {
  const key = useKey();
  const { exampleDomain: example, chatUrl } = useSite();
  const areShortcutsOn = useAreShortcutsOn();
  // Their new key shows newcomers the example at once; for those who come back it would only cost a request.
  const [isNewcomer] = useState(key === undefined);
  return (
    <div className="home">
      <Page
        title="What does a company’s domain run on?"
        lead="Hosting, mail, DNS, CDN, security and more: which providers a domain uses, since when, and how we know. Read from public records, with evidence, confidence and history. Every answer is signed, and you can check it here."
      >
        <div className="home-search">
          <SearchBox isLarge />
          <p className="small soft">
            {example !== undefined && (
              <>
                For example{' '}
                <Link to="/domain/$domain" params={{ domain: example }} preload={false}>
                  {example}
                </Link>
                .{' '}
              </>
            )}
            {areShortcutsOn && (
              <span className="home-keys">
                Press <kbd>/</kbd> on any page to search, <kbd>?</kbd> for all keys.
              </span>
            )}
          </p>
        </div>
        {isNewcomer &&
          example !== undefined &&
          (key === undefined ? <ExamplePromise domain={example} /> : <Example domain={example} />)}
        {key === undefined ? <Offers /> : <Lately />}
        <Card title="Ways in">
          <ul className="home-sections">
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
                <span className="small soft">Ask a model that runs on lent machines; its answers are signed too</span>
              </li>
            )}
          </ul>
        </Card>
      </Page>
    </div>
  );
}

/** What there is to be had, for those who have no key yet. */
function Offers() {
  return (
    <Card title="What you can do" width="half">
      <ol className="home-offers">
        <Offer title="Look up a domain">
          Its providers by category, each with the records that show it, and its history since the first look.
        </Offer>
        <Offer title="Look up a provider">Its customers, whom it won and lost, and where they went.</Offer>
        <Offer title="Check an answer">
          A receipt comes with each. Your browser checks the signature and the public log, step by step.
        </Offer>
      </ol>
    </Card>
  );
}

function Offer({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <li>
      <h3>{title}</h3>
      <p className="soft">{children}</p>
    </li>
  );
}

/** Everything in figures, and the last alerts. */
function Lately() {
  const stats = useStack('/stack/v1/stats', {});
  const alerts = useStack('/stack/v1/alerts', ALERTS);
  return (
    <>
      <Card title="In figures" foot={stats.data && <Source path="/stack/v1/stats" input={{}} answer={stats.data} />}>
        <Answer query={stats} lines={3}>
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
        </Answer>
      </Card>
      <Card
        title="Last alerts"
        actions={
          <Link to="/alerts" preload={false}>
            All alerts
          </Link>
        }
        foot={alerts.data && <Source path="/stack/v1/alerts" input={ALERTS} answer={alerts.data} />}
      >
        <Answer query={alerts} lines={5}>
          {({ alerts: found }) =>
            found.length === 0 ? (
              <Empty>Nothing has called for an alert yet.</Empty>
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
        </Answer>
      </Card>
    </>
  );
}
