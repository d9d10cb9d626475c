// Compares domains: providers, security posture and, on request, risk.
import type { StackAnswer, StackProblem } from '@strata/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { CATEGORIES } from '../answer/categories.ts';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { RiskLevel } from '../domain/cards/domain-risk.tsx';
import type { Profile } from '../domain/profile.ts';
import { CategoryLink, DomainLink } from '../market/links.tsx';
import { ComparisonCard, type Row } from './comparison.tsx';

interface CompareProps {
  readonly names: readonly string[];
  readonly search: Readonly<Record<string, string>>;
}

/** The profile of one column. */
function useProfile(domain: string | undefined) {
  return useStack(
    '/stack/v1/domains/{domain}',
    { path: { domain: domain ?? '' } },
    { isEnabled: domain !== undefined },
  );
}

function useRisk(domain: string | undefined, isEnabled: boolean) {
  const input = { path: { domain: domain ?? '' } };
  return useStack('/stack/v1/intelligence/risk/{domain}', input, { isEnabled: isEnabled && domain !== undefined });
}

const PROVIDER_ROWS = CATEGORIES.map(
  (category): Row<Profile> => ({
    key: category,
    name: <CategoryLink category={category} />,
    value: (profile) => idsOf(profile, category).toSorted().join(),
    cell: (profile, all) => <Providers profile={profile} category={category} all={all} />,
  }),
);

const PROFILE_ROWS: readonly Row<Profile>[] = [
  {
    key: 'state',
    name: 'State',
    value: ({ state }) => state,
    cell: ({ state }) => formatName(state),
  },
  {
    key: 'sector',
    name: 'Sector',
    value: ({ sector }) => (sector === 'unknown' ? null : sector),
    cell: ({ sector }) => (sector === 'unknown' ? '–' : formatName(sector)),
  },
  {
    key: 'grade',
    name: 'Posture',
    value: ({ security }) => security.grade,
    cell: ({ domain, security }) => (
      <>
        <Grade grade={security.grade} />{' '}
        <Link to="/domain/$domain" params={{ domain }} search={{ tab: 'posture' }}>
          {formatNumber(security.score)} of 100
        </Link>
      </>
    ),
  },
  {
    key: 'dmarc',
    name: 'DMARC policy',
    value: ({ security }) => security.dmarc.effective_policy ?? security.dmarc.status,
    cell: ({ security: { dmarc } }) => dmarc.effective_policy ?? (dmarc.status === 'absent' ? 'no record' : '–'),
  },
  {
    key: 'advisories',
    name: 'Advisories',
    value: ({ advisories }) => advisories?.version ?? null,
    cell: ({ domain, advisories }) => (
      <Link to="/domain/$domain" params={{ domain }} search={{ tab: 'advisories' }}>
        {formatNumber(advisories?.version)}
      </Link>
    ),
  },
];

const SCAN_ROW: Row<Profile> = {
  key: 'scanned',
  name: 'Last scanned',
  value: () => null,
  cell: ({ scanned_at }) => <Ago at={scanned_at} />,
};

type Risk = { readonly score: number | null; readonly level: string | null };

export function CompareDomains({ names, search }: CompareProps) {
  const showsRisk = search.risk === 'yes';
  // The number of hooks must be constant: there is one per possible column, and those without a name send no request.
  const profiles = [
    useProfile(names[0]),
    useProfile(names[1]),
    useProfile(names[2]),
    useProfile(names[3]),
    useProfile(names[4]),
  ];
  const risks = [
    useRisk(names[0], showsRisk),
    useRisk(names[1], showsRisk),
    useRisk(names[2], showsRisk),
    useRisk(names[3], showsRisk),
    useRisk(names[4], showsRisk),
  ];
  const risk = new Map(risks.flatMap(({ data }) => (data ? [[data.body.domain, data.body as Risk]] : [])));
  const rows = [
    ...PROFILE_ROWS,
    ...(showsRisk ? [riskRow(risk)] : []),
    ...PROVIDER_ROWS.filter((row) => isUsed(row, profiles)),
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
      nameOf={({ domain }) => domain}
      source={(name, answer) => (
        <Source path="/stack/v1/domains/{domain}" input={{ path: { domain: name } }} answer={answer} />
      )}
      actions={
        !showsRisk && (
          <Link
            className="button small"
            to="/compare"
            search={{ ...search, risk: 'yes' }}
            preload={false}
            resetScroll={false}
          >
            Add risk ({formatNumber(names.length)} {names.length === 1 ? 'request' : 'requests'})
          </Link>
        )
      }
    />
  );
}

function riskRow(risk: ReadonlyMap<string, Risk>): Row<Profile> {
  return {
    key: 'risk',
    name: 'Risk',
    value: ({ domain }) => risk.get(domain)?.score ?? null,
    cell: ({ domain }) => {
      const known = risk.get(domain);
      return (
        <Link to="/domain/$domain" params={{ domain }} search={{ tab: 'risk' }}>
          {formatNumber(known?.score)} {known && <RiskLevel level={known.level} />}
        </Link>
      );
    },
  };
}

/** Whether any of the domains has a service in the category of the row. */
function isUsed(row: Row<Profile>, queries: readonly UseQueryResult<StackAnswer<Profile>, StackProblem>[]): boolean {
  return queries.some(({ data }) => data?.body.services.some(({ category }) => category === row.key));
}

function idsOf(profile: Profile, category: string): string[] {
  return profile.services.flatMap((service) => (service.category === category ? [service.provider_id] : []));
}

interface ProvidersProps {
  readonly profile: Profile;
  readonly category: string;
  readonly all: readonly Profile[];
}

/** Providers used by only one of the domains are highlighted and labelled. */
function Providers({ profile, category, all }: ProvidersProps) {
  const services = profile.services.filter((service) => service.category === category);
  if (services.length === 0) return <span className="soft">none found</span>;
  const isUnique = (id: string) =>
    all.length > 1 && all.filter((other) => idsOf(other, category).includes(id)).length === 1;
  return (
    <ul className="compare-providers">
      {services.map(({ provider, provider_id, role, version }) => (
        <li key={`${role} ${provider_id}`} className={isUnique(provider_id) ? 'unique' : undefined}>
          <Link to="/provider/$provider" params={{ provider: provider_id }}>
            {provider}
          </Link>{' '}
          {version && <code>{version}</code>}{' '}
          {isUnique(provider_id) && <span className="small soft">only this domain</span>}
        </li>
      ))}
    </ul>
  );
}
