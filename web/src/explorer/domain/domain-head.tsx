// The summary of a domain; each figure links to its tab.
import type { StackPaths } from '@strata/client';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { formatCount, formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { Notice } from '../../ui/states.tsx';
import { DomainLink } from '../links/links.tsx';

export type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];

const SECTOR_SOURCES: Readonly<Record<string, string>> = {
  list: ', from the built-in list',
  suffix: ', from the domain suffix',
  page: ', from the home page',
};

export function DomainHead({ profile }: { readonly profile: Profile }) {
  const { domain, state, services, security, advisories, scanned_at, redirects_to, sector, sector_source } = profile;
  const tabLink = (tab: string, text: string) => (
    <DomainLink domain={domain} tab={tab}>
      {text}
    </DomainLink>
  );
  const categories = new Set(services.map(({ category }) => category)).size;
  const sectorNote = `${formatName(sector)}${SECTOR_SOURCES[sector_source ?? ''] ?? ''}`;
  return (
    <Card title="Summary">
      <Figures>
        <Figure name="State" value={formatName(state)} note={sector === 'unknown' ? 'Sector unknown' : sectorNote} />
        <Figure
          name="Services"
          value={services.length}
          note={tabLink('stack', `in ${formatNumber(categories)} categories`)}
        />
        <Figure name="Posture" note={tabLink('posture', `Score ${formatNumber(security.score)} of 100`)}>
          <Grade grade={security.grade} />
        </Figure>
        <Figure
          name="Advisories"
          value={advisories?.version ?? null}
          note={tabLink('advisories', advisories ? noteOf(advisories) : 'Not available yet')}
        />
        <Figure name="Last scanned" note={formatTime(scanned_at)}>
          <Ago at={scanned_at} />
        </Figure>
      </Figures>
      <Country country={profile.country} />
      {redirects_to && (
        <p className="note">
          The site redirects to <DomainLink domain={redirects_to} />.
        </p>
      )}
    </Card>
  );
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region' });

/** The network's country is that of its registration. */
function Country({ country: { tld, network } }: Pick<Profile, 'country'>) {
  const of = [
    tld && `${COUNTRIES.of(tld)} by the top-level domain`,
    network && `${COUNTRIES.of(network)} by the registration of the network of its address`,
  ].filter(Boolean);
  return of.length > 0 && <p className="note">Country: {of.join('; ')}.</p>;
}

/** No affected version does not mean that the domain is unaffected: versions may be unknown. */
function noteOf({ known_exploited, product }: NonNullable<Profile['advisories']>): string {
  if (known_exploited === 0 && product > 0) return `${formatNumber(product)} possibly affected`;
  return `${formatNumber(known_exploited)} known to be exploited`;
}

/** Title and explanation of the states of a domain that is not active. */
const STATES = {
  parked: [
    'This domain is parked',
    'It shows a placeholder page of a registrar or domain marketplace instead of a website.',
  ],
  nonexistent: [
    'This domain no longer exists',
    'The last scan did not find this name. The data below is from earlier scans.',
  ],
  unmeasured: [
    'The last scan failed',
    'Values that could not be measured are unknown and not included in any statistics.',
  ],
} as const;

/** Values of an earlier scan: a scan that fails hides nothing that is known. */
export function StaleValues({ stale_roles: roles, security }: Pick<Profile, 'stale_roles' | 'security'>) {
  const times = [...roles, ...security.stale_parts].map(({ measured_at }) => measured_at).toSorted();
  const [oldest, newest] = [times[0], times.at(-1)];
  if (oldest === undefined || newest === undefined) return null;
  const parts = security.stale_parts.length;
  const what = [
    ...(roles.length > 0 ? [formatCount(roles.length, 'role')] : []),
    ...(parts > 0 ? [`${formatCount(parts, 'part')} of the posture`] : []),
  ].join(' and ');
  return (
    <Notice title="The last scan could not measure everything" tone="warn">
      <p>
        {what}: shown as measured{' '}
        {oldest === newest ? `on ${formatTime(oldest)}` : `from ${formatTime(oldest)} to ${formatTime(newest)}`}.
      </p>
    </Notice>
  );
}

export function DomainState({ state }: Pick<Profile, 'state'>) {
  if (state === 'active') return null;
  const [title, text] = STATES[state];
  return (
    <Notice title={title} tone={state === 'parked' ? 'plain' : 'warn'}>
      <p>{text}</p>
    </Notice>
  );
}
