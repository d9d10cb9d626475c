// Domains side by side: who serves what, how they are protected, and on demand their risk.
import type { StackAnswer, StackProblem } from '@strata/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Grade } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { RiskLevel } from '../domain/cards/domain-risk.tsx';
import { CATEGORIES, type Profile } from '../domain/profile.ts';
import { ComparedTable, OnlyDifferences, type Row } from './compared.tsx';

interface CompareProps {
  readonly names: readonly string[];
  readonly search: Readonly<Record<string, string>>;
}

/** One column's profile, whose risk is asked for only where the reader wants it. */
function useProfile(domain: string | undefined) {
  return useStack(
    '/stack/v1/domains/{domain}',
    { path: { domain: domain ?? '' } },
    { isEnabled: domain !== undefined },
  );
}

function useRisk(domain: string | undefined, isWanted: boolean) {
  const input = { path: { domain: domain ?? '' } };
  return useStack('/stack/v1/intelligence/risk/{domain}', input, { isEnabled: isWanted && domain !== undefined });
}

const WHO = CATEGORIES.map(
  (category): Row<Profile> => ({
    key: category,
    name: (
      <Link to="/market" search={{ category }}>
        {formatName(category)}
      </Link>
    ),
    value: (profile) => idsOf(profile, category).toSorted().join(),
    cell: (profile, all) => <Providers profile={profile} category={category} all={all} />,
  }),
);

const ABOUT: readonly Row<Profile>[] = [
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

const LOOK: Row<Profile> = {
  key: 'look',
  name: 'Last look',
  value: () => null,
  cell: ({ scanned_at }) => <Ago at={scanned_at} />,
};

type Risk = { readonly score: number | null; readonly level: string | null };

export function CompareDomains({ names, search }: CompareProps) {
  const isRisky = search.risk === 'yes';
  // Hooks cannot be counted by what is compared: there are as many as can be, and those without a name do not ask.
  const profiles = [
    useProfile(names[0]),
    useProfile(names[1]),
    useProfile(names[2]),
    useProfile(names[3]),
    useProfile(names[4]),
  ];
  const risks = [
    useRisk(names[0], isRisky),
    useRisk(names[1], isRisky),
    useRisk(names[2], isRisky),
    useRisk(names[3], isRisky),
    useRisk(names[4], isRisky),
  ];
  const risk = new Map(risks.flatMap(({ data }) => (data ? [[data.body.domain, data.body as Risk]] : [])));
  const rows = [...ABOUT, ...(isRisky ? [riskRow(risk)] : []), ...WHO.filter((row) => isUsed(row, profiles)), LOOK];
  return (
    <Card
      title="Side by side"
      actions={
        <>
          {!isRisky && (
            <Link
              className="button small"
              to="/compare"
              search={{ ...search, risk: 'yes' }}
              preload={false}
              resetScroll={false}
            >
              Add risk ({formatNumber(names.length)} {names.length === 1 ? 'request' : 'requests'})
            </Link>
          )}
          <OnlyDifferences search={search} />
        </>
      }
      foot={
        profiles.some(({ data }) => data) &&
        names.map((name, i) => {
          const answer = profiles[i]?.data;
          return (
            answer && (
              <div key={name}>
                <span className="small">{answer.body.domain}</span>
                <Source path="/stack/v1/domains/{domain}" input={{ path: { domain: name } }} answer={answer} />
              </div>
            )
          );
        })
      }
    >
      <ComparedTable
        kind="domains"
        names={names}
        queries={profiles}
        rows={rows}
        search={search}
        head={({ domain }) => (
          <Link to="/domain/$domain" params={{ domain }}>
            {domain}
          </Link>
        )}
      />
    </Card>
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

/** A category in which none of them uses anybody would be a row of dashes. */
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

/** What only one of them uses is bold and says so. */
function Providers({ profile, category, all }: ProvidersProps) {
  const services = profile.services.filter((service) => service.category === category);
  if (services.length === 0) return <span className="soft">none seen</span>;
  const isAlone = (id: string) =>
    all.length > 1 && all.filter((other) => idsOf(other, category).includes(id)).length === 1;
  return (
    <ul className="compare-providers">
      {services.map(({ provider, provider_id, role, version }) => (
        <li key={`${role} ${provider_id}`} className={isAlone(provider_id) ? 'alone' : undefined}>
          <Link to="/provider/$provider" params={{ provider: provider_id }}>
            {provider}
          </Link>{' '}
          {version && <code>{version}</code>} {isAlone(provider_id) && <span className="small soft">only here</span>}
        </li>
      ))}
    </ul>
  );
}
