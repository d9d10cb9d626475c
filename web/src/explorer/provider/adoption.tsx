// The adoption of a provider over time.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { type ChartTheme, useChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatDay, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';

export const ADOPTION = '/stack/v1/intelligence/adoption/{tool}';
type Day = StackPaths[typeof ADOPTION]['body']['curve'][number];

/** A day of the curve with its share of all domains; null if unknown. */
interface SharedDay extends Day {
  readonly share: number | null;
}

/** Null on a day without scans: neither 0 nor the value of the preceding day. */
const ifMeasured = ({ measured }: Day, number: number): number | null => (measured ? number : null);

const columns: readonly Column<SharedDay>[] = [
  textColumn('Day', ({ date }) => date, formatDay),
  numberColumn('Domains', (day) => ifMeasured(day, day.domains)),
  numberColumn('Share', ({ share }) => share, formatShare),
  numberColumn('Gained', (day) => ifMeasured(day, day.added)),
  numberColumn('Lost', (day) => ifMeasured(day, day.removed)),
];

export function Adoption({ provider }: { readonly provider: string }) {
  const input = { path: { tool: provider } };
  return (
    <AnswerCard title="Adoption over time" path={ADOPTION} input={input} lines={10}>
      {({ tool, provider_id, domains, share, curve, method }) => (
        <>
          <Figures>
            <Figure name="Domains today">
              <Link to="/provider/$provider" params={{ provider: provider_id }} search={{ tab: 'domains' }}>
                {formatNumber(domains)}
              </Link>
            </Figure>
            <Figure name="Market share">{formatShare(share)}</Figure>
          </Figures>
          {curve.length === 0 ? (
            <Empty>No history yet.</Empty>
          ) : (
            <Curve tool={tool} curve={curve} domains={domains} share={share} />
          )}
          {curve.some(({ measured }) => !measured) && <p className="small soft">Gaps are days without scans.</p>}
          <p className="small soft">{method.split('. Jaccard')[0]}.</p>
        </>
      )}
    </AnswerCard>
  );
}

interface CurveProps {
  readonly tool: string;
  readonly curve: readonly Day[];
  readonly domains: number;
  readonly share: number;
}

function Curve({ tool, curve, domains, share }: CurveProps) {
  const theme = useChartTheme();
  const days = useMemo(() => sharesOf(curve, domains, share), [curve, domains, share]);
  const option = useMemo(() => lineOf(days, theme), [days, theme]);
  const [first, last] = [curve[0], curve.at(-1)];
  return (
    <Chart
      label={`Domains that use ${tool}, by day: ${formatNumber(first?.domains)} on ${formatDay(first?.date)}, ${formatNumber(last?.domains)} on ${formatDay(last?.date)}`}
      option={option}
      height={300}
      table={
        <DataTable
          caption={`Domains that use ${tool}, by day`}
          columns={columns}
          rows={days.toReversed()}
          keyOf={({ date }: SharedDay) => date}
        />
      }
    />
  );
}

/** The curve covers the domains tracked today, so their total follows from today's count and share. */
function sharesOf(curve: readonly Day[], domains: number, share: number): readonly SharedDay[] {
  return curve.map((day) => ({ ...day, share: share > 0 && day.measured ? (day.domains / domains) * share : null }));
}

function lineOf(days: readonly SharedDay[], { soft, line }: ChartTheme) {
  const hasShare = days.some(({ share }) => share !== null);
  return {
    grid: { left: 8, right: 24, top: 16, bottom: 8, containLabel: true },
    tooltip: {
      trigger: 'axis',
      formatter: ([point]: readonly { dataIndex: number }[]) => {
        const day = days[point?.dataIndex ?? -1];
        if (!day) return '';
        const text = day.measured ? `${formatNumber(day.domains)} domains, ${formatShare(day.share)}` : 'not measured';
        return `${formatDay(day.date)}\n${text}`;
      },
    },
    xAxis: {
      type: 'category',
      data: days.map(({ date }) => formatDay(date)),
      axisLabel: { color: soft, hideOverlap: true },
      axisLine: { lineStyle: { color: line } },
    },
    yAxis: {
      type: 'value',
      scale: true,
      axisLabel: { color: soft, ...(hasShare && { formatter: formatShare }) },
      splitLine: { lineStyle: { color: line } },
    },
    series: {
      type: 'line',
      step: 'end',
      connectNulls: false,
      // A day between two gaps has no line segment, so it is drawn as a point.
      showSymbol: true,
      symbol: (_: unknown, { dataIndex: at }: { dataIndex: number }) =>
        days[at - 1]?.measured || days[at + 1]?.measured ? 'none' : 'circle',
      symbolSize: 6,
      data: days.map((day) => (day.measured ? (hasShare ? day.share : day.domains) : null)),
    },
  };
}
