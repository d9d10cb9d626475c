// The distribution of grades.
import type { ReactNode } from 'react';
import { Grade } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { formatDecimal, formatShare } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { CountLink } from '../links/links.tsx';
import type { Scorecard } from './standards.ts';

type Grades = Scorecard['grades'];

export function GradesCard({ card, source }: { readonly card: Scorecard; readonly source: ReactNode }) {
  const { grades, scored, mean_score: mean } = card;
  const mostCommon = grades.toSorted((a, b) => b.domains - a.domains)[0];
  const columns: readonly Column<Grades[number]>[] = [
    { name: 'Grade', cell: ({ grade }) => <Grade grade={grade} /> },
    numberColumn(
      'Domains',
      ({ domains }) => domains,
      (count, { grade }) => <CountLink count={count} of={{ state: 'live', grade }} />,
    ),
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
  grid: { left: 48, right: 12, top: 32, bottom: 44 },
  tooltip: { trigger: 'axis' },
  xAxis: {
    type: 'category',
    name: 'Grade',
    nameLocation: 'middle',
    nameGap: 28,
    data: grades.map(({ grade }) => grade),
    axisTick: { show: false },
  },
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
