// The head of a domain's page: the few facts that a reader wants at a glance, each leading to its part.
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import type { Profile } from './profile.ts';

const SECTOR_SOURCES: Readonly<Record<string, string>> = {
  list: 'from the service’s own list',
  suffix: 'told by the suffix',
  page: 'told by the home page',
};

export function DomainHead({ profile }: { readonly profile: Profile }) {
  const { domain, security, advisories } = profile;
  const part = (tab: string) => ({ to: '/domain/$domain', params: { domain }, search: { tab } }) as const;
  return (
    <Card title="At a glance">
      <Figures>
        <Figure name="State" note={<Sector profile={profile} />}>
          {formatName(profile.state)}
        </Figure>
        <Figure
          name="Services"
          note={
            <Link {...part('stack')}>
              in {formatNumber(new Set(profile.services.map((s) => s.category)).size)} categories
            </Link>
          }
        >
          {formatNumber(profile.services.length)}
        </Figure>
        <Figure name="Posture" note={<Link {...part('posture')}>Score {formatNumber(security.score)} of 100</Link>}>
          <Grade grade={security.grade} />
        </Figure>
        <Figure
          name="Advisories"
          note={<Link {...part('advisories')}>{advisories ? noteOf(advisories) : 'Not known yet'}</Link>}
        >
          {formatNumber(advisories?.version)}
        </Figure>
        <Figure name="Last look" note={formatTime(profile.scanned_at)}>
          <Ago at={profile.scanned_at} className="domain-when" />
        </Figure>
      </Figures>
      {profile.redirects_to && (
        <p className="domain-redirect">
          The site redirects to{' '}
          <Link to="/domain/$domain" params={{ domain: profile.redirects_to }}>
            {profile.redirects_to}
          </Link>
          .
        </p>
      )}
    </Card>
  );
}

function Sector({ profile }: { readonly profile: Profile }) {
  if (profile.sector === 'unknown') return 'Sector not known';
  const source = SECTOR_SOURCES[profile.sector_source ?? ''];
  return `${formatName(profile.sector)}${source ? `, ${source}` : ''}`;
}

/** A word on a domain that is not as a reader would expect it. */
export function DomainState({ profile }: { readonly profile: Profile }) {
  switch (profile.state) {
    case 'active':
      return null;
    case 'parked':
      return (
        <Notice title="This domain is parked">
          <p>It shows a page of whoever holds or sells names, and no site of its own.</p>
        </Notice>
      );
    case 'nonexistent':
      return (
        <Notice title="This domain no longer exists" tone="warn">
          <p>The last look found no such name. What follows is what was known before.</p>
        </Notice>
      );
    case 'unmeasured':
      return (
        <Notice title="The last look did not get through" tone="warn">
          <p>What could not be looked up is left open here, and counted nowhere.</p>
        </Notice>
      );
    default:
      return profile.state satisfies never;
  }
}

/** A 0 of versions that are known to be affected does not say that nothing may be. */
function noteOf({ known_exploited, product }: NonNullable<Profile['advisories']>): string {
  if (known_exploited === 0 && product > 0) return `${formatNumber(product)} more may concern it`;
  return `${formatNumber(known_exploited)} known to be exploited`;
}
