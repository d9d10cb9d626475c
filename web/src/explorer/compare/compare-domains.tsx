// Compares domains: providers, security posture and, on request, risk.
import type { Category, StackPaths } from '@strata/client';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Grade, Risk } from '../../ui/badge.tsx';
import { formatCount, formatName, formatNumber } from '../../ui/formats.ts';
import { useKey } from '../answer/session.ts';
import { stackQuery } from '../answer/use-stack.ts';
import { CATEGORIES } from '../links/categories.ts';
import { CategoryLink, DomainLink, ProviderLink } from '../links/links.tsx';
import { changed, type Search } from '../links/search-params.ts';
import { ComparisonCard, type Row, rowOf } from './comparison.tsx';

type Profile = StackPaths['/stack/v1/domains/{domain}']['body'];

interface CompareProps {
  readonly names: readonly string[];
  readonly search: Search;
}

const PROFILE_ROWS: readonly Row<Profile>[] = [
  rowOf('State', ({ state }) => state, formatName),
  rowOf(
    'Sector',
    ({ sector }) => (sector === 'unknown' ? null : sector),
    (sector) => (sector === null ? '–' : formatName(sector)),
  ),
  rowOf(
    'Posture',
    ({ security }) => security.grade,
    (grade, { domain, security }) => (
      <>
        <Grade grade={grade} />{' '}
        <DomainLink domain={domain} tab="posture">
          {formatNumber(security.score)} of 100
        </DomainLink>
      </>
    ),
  ),
  rowOf(
    'DMARC policy',
    ({ security: { dmarc } }) => dmarc.effective_policy ?? dmarc.status,
    (_, { security: { dmarc } }) => dmarc.effective_policy ?? (dmarc.status === 'absent' ? 'no record' : '–'),
  ),
  rowOf(
    'Advisories',
    ({ advisories }) => advisories?.version ?? null,
    (count, { domain }) => (
      <DomainLink domain={domain} tab="advisories">
        {formatNumber(count)}
      </DomainLink>
    ),
  ),
];

const SCAN_ROW: Row<Profile> = rowOf(
  'Last scanned',
  () => null,
  (_, { scanned_at }) => <Ago at={scanned_at} />,
);

export function CompareDomains({ names, search }: CompareProps) {
  const key = useKey();
  const showsRisk = search.risk === 'yes';
  const profiles = useQueries({
    queries: names.map((domain) => stackQuery('/stack/v1/domains/{domain}', { path: { domain } }, { key })),
  });
  const risks = useQueries({
    queries: (showsRisk ? names : []).map((domain) =>
      stackQuery('/stack/v1/intelligence/risk/{domain}', { path: { domain } }, { key }),
    ),
  });
  const used = new Set(profiles.flatMap(({ data }) => data?.body.services.map(({ category }) => category) ?? []));
  const rows = [
    ...PROFILE_ROWS,
    ...(showsRisk ? [riskRow(risks.flatMap(({ data }) => data?.body ?? []))] : []),
    ...CATEGORIES.filter((category) => used.has(category)).map(providerRow),
    SCAN_ROW,
  ];
  return (
    <ComparisonCard
      kind="domains"
      names={names}
      queries={profiles}
      rows={rows}
      search={search}
      head={({ domain }) => <DomainLink domain={domain} />}
      actions={
        !showsRisk && (
          <Link className="button small" {...changed({ risk: 'yes' })} preload={false}>
            Add risk ({formatCount(names.length, 'request')})
          </Link>
        )
      }
    />
  );
}

function riskRow(risks: readonly StackPaths['/stack/v1/intelligence/risk/{domain}']['body'][]): Row<Profile> {
  const of = ({ domain }: Profile) => risks.find((risk) => risk.domain === domain);
  return rowOf(
    'Risk',
    (profile) => of(profile)?.score ?? null,
    (score, profile) => (
      <DomainLink domain={profile.domain} tab="risk">
        {formatNumber(score)} {of(profile) && <Risk level={of(profile)?.level ?? null} />}
      </DomainLink>
    ),
  );
}

const servicesIn = ({ services }: Profile, category: Category) =>
  services.filter((service) => service.category === category);

/** The providers of a category; different versions differ too. */
const providerRow = (category: Category): Row<Profile> => ({
  key: category,
  name: <CategoryLink category={category} />,
  value: (profile) =>
    servicesIn(profile, category)
      .map(({ provider_id: id, version }) => `${id} ${version ?? ''}`)
      .toSorted()
      .join(),
  cell: (profile, all) => <Providers profile={profile} category={category} all={all} />,
});

interface ProvidersProps {
  readonly profile: Profile;
  readonly category: Category;
  readonly all: readonly Profile[];
}

/** Providers used by only one of the domains are highlighted and labelled. */
function Providers({ profile, category, all }: ProvidersProps) {
  const services = servicesIn(profile, category);
  if (services.length === 0) return <span className="soft">none found</span>;
  const isUnique = (id: string) =>
    all.length > 1 &&
    all.filter((other) => servicesIn(other, category).some(({ provider_id }) => provider_id === id)).length === 1;
  return (
    <ul className="stack tight">
      {services.map(({ provider, provider_id: id, role, version }) => (
        <li key={`${role} ${id}`}>
          <ProviderLink id={id} name={provider} className={isUnique(id) ? 'strong' : ''} />{' '}
          {version && <code>{version}</code>} {isUnique(id) && <span className="small soft">only this domain</span>}
        </li>
      ))}
    </ul>
  );
}
