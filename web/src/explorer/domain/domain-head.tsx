// The summary of a domain; each figure links to its tab.
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import type { Profile } from './profile.ts';

const SECTOR_SOURCES: Readonly<Record<string, string>> = {
  list: 'from the built-in list',
  suffix: 'from the domain suffix',
  page: 'from the home page',
};

export function DomainHead({ profile }: { readonly profile: Profile }) {
  const { domain, security, advisories } = profile;
  const tabLink = (tab: string) => ({ to: '/domain/$domain', params: { domain }, search: { tab } }) as const;
  return (
    <Card title="Summary">
      <Figures>
        <Figure name="State" note={<Sector profile={profile} />}>
          {formatName(profile.state)}
        </Figure>
        <Figure
          name="Services"
          note={
            <Link {...tabLink('stack')}>
              in {formatNumber(new Set(profile.services.map((s) => s.category)).size)} categories
            </Link>
          }
        >
          {formatNumber(profile.services.length)}
        </Figure>
        <Figure name="Posture" note={<Link {...tabLink('posture')}>Score {formatNumber(security.score)} of 100</Link>}>
          <Grade grade={security.grade} />
        </Figure>
        <Figure
          name="Advisories"
          note={<Link {...tabLink('advisories')}>{advisories ? noteOf(advisories) : 'Not available yet'}</Link>}
        >
          {formatNumber(advisories?.version)}
        </Figure>
        <Figure name="Last scanned" note={formatTime(profile.scanned_at)}>
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
  if (profile.sector === 'unknown') return 'Sector unknown';
  const source = SECTOR_SOURCES[profile.sector_source ?? ''];
  return `${formatName(profile.sector)}${source ? `, ${source}` : ''}`;
}

/** A notice for a domain that is not active. */
export function DomainState({ profile }: { readonly profile: Profile }) {
  switch (profile.state) {
    case 'active':
      return null;
    case 'parked':
      return (
        <Notice title="This domain is parked">
          <p>It shows a placeholder page of a registrar or domain marketplace instead of a website.</p>
        </Notice>
      );
    case 'nonexistent':
      return (
        <Notice title="This domain no longer exists" tone="warn">
          <p>The last scan did not find this name. The data below is from earlier scans.</p>
        </Notice>
      );
    case 'unmeasured':
      return (
        <Notice title="The last scan failed" tone="warn">
          <p>Values that could not be measured are unknown and not included in any statistics.</p>
        </Notice>
      );
    default:
      return profile.state satisfies never;
  }
}

/** No affected version does not mean that the domain is unaffected: versions may be unknown. */
function noteOf({ known_exploited, product }: NonNullable<Profile['advisories']>): string {
  if (known_exploited === 0 && product > 0) return `${formatNumber(product)} possibly affected`;
  return `${formatNumber(known_exploited)} known to be exploited`;
}
