// The live example on the home page: a short domain profile.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Badge, Grade } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { AnswerCard, FreeKeyButton } from '../answer/answer.tsx';

type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];

/** Shown instead of the example while there is no API key. */
export function ExamplePlaceholder({ domain }: { readonly domain: string }) {
  return (
    <Card title={`Live example: ${domain}`} width="half">
      <div className="home-key">
        <p>
          Get a free API key to see the stack of this domain, its security grade, and a receipt that you can verify. No
          account needed: 50 requests a day. The key is stored in this browser.
        </p>
        <FreeKeyButton />
        <p className="small soft">
          Already have a key? <Link to="/start">Enter it</Link>
        </p>
      </div>
    </Card>
  );
}

/** Requests the profile once and shows it with its receipt. */
export function Example({ domain }: { readonly domain: string }) {
  return (
    <AnswerCard
      title={`Live example: ${domain}`}
      path="/stack/v1/domains/{domain}"
      input={{ path: { domain } }}
      lines={7}
      isOpen
      actions={
        <Link to="/domain/$domain" params={{ domain }}>
          Evidence and history
        </Link>
      }
    >
      {(profile) => <ShortProfile profile={profile} />}
    </AnswerCard>
  );
}

function ShortProfile({ profile }: { readonly profile: Profile }) {
  const { domain, security, services, scanned_at: scannedAt } = profile;
  const categories = Map.groupBy(services, ({ category }) => category);
  return (
    <div className="home-example">
      <p>
        <Link to="/domain/$domain" params={{ domain }}>
          Security <Grade grade={security.grade} />
        </Link>{' '}
        <span className="soft">
          {formatNumber(security.score)} of 100 points · scanned <Ago at={scannedAt} />
        </span>
      </p>
      <dl className="home-stack">
        {[...categories].map(([category, found]) => (
          <div key={category}>
            <dt>{formatName(category)}</dt>
            <dd>
              {found.map(({ provider, provider_id: id, role }) => (
                <Link key={`${id} ${role}`} to="/provider/$provider" params={{ provider: id }} preload={false}>
                  <Badge>{provider}</Badge>
                </Link>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
