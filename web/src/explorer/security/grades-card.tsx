// The distribution of grades.
import type { ReactNode } from 'react';
import { Grade } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { formatDecimal, formatShare } from '../../ui/formats.ts';
import { DataTable } from '../../ui/table/data-table.tsx';
import { CountLink } from '../search/search-links.tsx';
import type { Scorecard } from './standards.ts';

export function GradesCard({ card, foot }: { readonly card: Scorecard; readonly foot: ReactNode }) {
  const { grades, scored, mean_score: mean } = card;
  const mostCommon = grades.toSorted((a, b) => b.domains - a.domains)[0];
  const shareOf = (domains: number) => (scored === 0 ? null : domains / scored);
  const option = {
    grid: { left: 48, right: 12, top: 24, bottom: 28 },
    tooltip: { trigger: 'axis' },
    xAxis: { type: 'category', data: grades.map(({ grade }) => grade), axisTick: { show: false } },
    yAxis: { type: 'value', name: 'domains', minInterval: 1, splitNumber: 4 },
    series: [
      {
        type: 'bar',
        name: 'Domains',
        data: grades.map(({ domains }) => domains),
        barMaxWidth: 56,
        label: { show: true, position: 'top', color: 'inherit' },
      },
    ],
    aria: { enabled: true, label: { enabled: false }, decal: { show: false } },
  };
  return (
    <Card title="Grades" width="half" foot={foot}>
      <p className="soft small security-note">
        <CountLink count={scored} of={{ state: 'live', score_gte: '0' }} /> scored domains, mean score{' '}
        {formatDecimal(mean)} of 100. A grade covers all factors that were measured.
      </p>
      <Chart
        label={`Domains by grade from A+ to F${mostCommon && scored > 0 ? `; the most common is ${mostCommon.grade} with ${mostCommon.domains}` : ''}.`}
        option={option}
        height={240}
        table={
          <DataTable
            caption="Domains by grade"
            rows={grades}
            keyOf={({ grade }) => grade}
            columns={[
              { name: 'Grade', cell: ({ grade }) => <Grade grade={grade} /> },
              {
                name: 'Domains',
                isNumber: true,
                cell: ({ grade, domains }) => <CountLink count={domains} of={{ state: 'live', grade }} />,
              },
              { name: 'Share', isNumber: true, cell: ({ domains }) => formatShare(shareOf(domains)) },
            ]}
          />
        }
      />
    </Card>
  );
}
