// The security scorecard: adoption of standards and grades, overall and by sector.
import './security.css';
import type { Sector } from '@strata/client';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Grade } from '../../ui/badge.tsx';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { formatDecimal, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { labelled, SECTORS } from '../links/categories.ts';
import { CountLink } from '../links/links.tsx';
import { Parameter } from '../links/parameter.tsx';
import { oneOf } from '../links/search-params.ts';
import { AdoptionCard, countsOf, SectorsCard } from './adoption-card.tsx';
import type { Scorecard } from './standards.ts';

const route = getRouteApi('/security');

export function Security() {
  const sector = oneOf(route.useSearch().sector, SECTORS);
  const query = useStack('/stack/v1/intelligence/security-scorecard', {});
  return (
    <Page
      title="Security scorecard"
      lead="Adoption of standards that protect mail, DNS and TLS certificates. Shares refer to the domains in which a standard was measured; failed lookups are excluded."
      actions={<Parameter label="Sector" name="sector" options={labelled(SECTORS)} />}
    >
      <Answer query={query}>
        {(card, source) => {
          const counts = countsOf(card, sector);
          return (
            <>
              <Summary card={card} sector={sector} source={source} />
              {counts ? (
                <AdoptionCard counts={counts} sector={sector} source={source} />
              ) : (
                <Card title={formatName(sector ?? '')}>
                  <Empty>No scanned domains in this sector.</Empty>
                </Card>
              )}
              <GradesCard card={card} source={source} />
              <ExportCard sector={sector} />
              <SectorsCard card={card} source={source} />
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

/** Name, standard and search flag of a figure. */
const STANDARDS = [
  ['Valid SPF', 'spf', 'spf_valid'],
  ['DMARC policy', 'dmarc', 'dmarc_valid'],
  ['DMARC reject', 'dmarc_effective_reject', 'dmarc_effective_reject'],
] as const;

interface SummaryProps {
  readonly card: Scorecard;
  readonly sector: Sector | undefined;
  readonly source: ReactNode;
}

function Summary({ card, sector, source }: SummaryProps) {
  const row = sector === undefined ? undefined : card.by_sector.find((one) => one.sector === sector);
  if (sector !== undefined && !row) return null;
  const { domains, adoption, mean_score: mean } = row ?? card;
  // Like the scorecard: nonexistent domains are excluded.
  const scope = { state: 'live', sector };
  const scored = (
    <>
      of 100, in <CountLink count={card.scored} of={{ ...scope, score_gte: '0' }} /> domains
    </>
  );
  return (
    <Card title={sector === undefined ? 'All domains' : formatName(sector)} foot={source}>
      <Figures>
        <Figure name="Domains" note="existing, including parked">
          <CountLink count={domains} of={scope} />
        </Figure>
        <Figure name="Mean score" value={formatDecimal(mean)} note={row ? 'of 100' : scored} />
        {STANDARDS.map(([name, standard, flag]) => {
          const { domains: count, measured, share } = adoption[standard];
          const note =
            standard === 'dmarc_effective_reject' ? 'effective policy' : `of ${formatNumber(measured)} measured`;
          return (
            <Figure key={name} name={name} note={note}>
              <CountLink count={count} of={{ flag, ...scope }}>
                {formatShare(share)}
              </CountLink>
            </Figure>
          );
        })}
      </Figures>
    </Card>
  );
}

/** The CSV export of the scorecard, one row per domain. */
function ExportCard({ sector }: { readonly sector: Sector | undefined }) {
  const [maxScore, setMaxScore] = useState(100);
  return (
    <Card
      title="Export by domain"
      width="half"
      actions={
        <label className="choice">
          Maximum score
          <input
            type="number"
            min={0}
            max={100}
            value={maxScore}
            onChange={({ target }) => setMaxScore(Math.min(100, Math.max(0, Math.trunc(target.valueAsNumber) || 0)))}
          />
        </label>
      }
    >
      <CsvDownload
        key={`${sector} ${maxScore}`}
        path="/stack/v1/security/export.csv"
        input={{ query: { sector, score_lte: maxScore === 100 ? undefined : maxScore } }}
        name={sector === undefined ? 'security' : `security-${sector}`}
      >
        {sector === undefined ? 'All sectors' : formatName(sector)}: score, grade and all standards, lowest score first,
        up to 1,000 rows. Domains without a score are excluded; empty cells were not measured.
      </CsvDownload>
    </Card>
  );
}

type Grades = Scorecard['grades'];

/** The distribution of grades. */
function GradesCard({ card, source }: { readonly card: Scorecard; readonly source: ReactNode }) {
  const { grades, scored, mean_score: mean } = card;
  const mostCommon = grades.toSorted((a, b) => b.domains - a.domains)[0];
  const columns: readonly Column<Grades[number]>[] = [
    { name: 'Grade', cell: ({ grade }) => <Grade grade={grade} /> },
    numberColumn('Domains', 'domains', (count, { grade }) => <CountLink count={count} of={{ state: 'live', grade }} />),
    numberColumn('Share', ({ domains }) => (scored === 0 ? null : domains / scored), formatShare),
  ];
  return (
    <Card title="Grades" width="half" foot={source}>
      <p className="soft small note">
        <CountLink count={scored} of={{ state: 'live', score_gte: '0' }} /> scored domains, mean score{' '}
        {formatDecimal(mean)} of 100. A grade covers all factors that were measured.
      </p>
      <Chart
        label={`Domains by grade from A+ to F${mostCommon && scored > 0 ? `; the most common is ${mostCommon.grade} with ${mostCommon.domains}` : ''}.`}
        data={grades}
        draw={barsOf}
        height={250}
        table={<DataTable caption="Domains by grade" rows={grades} keyOf={({ grade }) => grade} columns={columns} />}
      />
    </Card>
  );
}

const barsOf = (grades: Grades) => ({
  tooltip: { trigger: 'axis' },
  xAxis: { type: 'category', name: 'Grade', data: grades.map(({ grade }) => grade) },
  yAxis: { type: 'value', name: 'Domains', minInterval: 1, splitNumber: 4 },
  series: {
    type: 'bar',
    name: 'Domains',
    data: grades.map(({ domains }) => domains),
    barMaxWidth: 56,
    label: { show: true, position: 'top', color: 'inherit' },
  },
  aria: { enabled: true, label: { enabled: false }, decal: { show: false } },
});
