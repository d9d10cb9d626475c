// How many domains used a provider day by day.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card, Figure, Figures } from '../../ui/card/card.tsx';
import { Chart } from '../../ui/chart/chart.tsx';
import { type Ink, useInk } from '../../ui/chart/series-colours.ts';
import { formatDay, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';

export const ADOPTION = '/stack/v1/intelligence/adoption/{tool}';
type Day = StackPaths[typeof ADOPTION]['body']['curve'][number];

/** A day of the curve with its share of all domains; null where it cannot be told. */
interface SharedDay extends Day {
  readonly share: number | null;
}

/** Nobody looked: that is neither the number of the day before nor none. */
const seen = ({ measured }: Day, number: number): number | null => (measured ? number : null);

const columns: readonly Column<SharedDay>[] = [
  { name: 'Day', cell: ({ date }) => formatDay(date), value: ({ date }) => date },
  {
    name: 'Domains',
    isNumber: true,
    cell: (day) => formatNumber(seen(day, day.domains)),
    value: (day) => seen(day, day.domains),
  },
  { name: 'Share', isNumber: true, cell: ({ share }) => formatShare(share), value: ({ share }) => share },
  {
    name: 'Gained',
    isNumber: true,
    cell: (day) => formatNumber(seen(day, day.added)),
    value: (day) => seen(day, day.added),
  },
  {
    name: 'Lost',
    isNumber: true,
    cell: (day) => formatNumber(seen(day, day.removed)),
    value: (day) => seen(day, day.removed),
  },
];

export function Adoption({ provider }: { readonly provider: string }) {
  const input = { path: { tool: provider } };
  const query = useStack(ADOPTION, input);
  return (
    <Card
      title="Market share over time"
      foot={query.data && <Source path={ADOPTION} input={input} answer={query.data} />}
    >
      <Answer query={query} lines={10}>
        {({ tool, provider_id, domains, share, curve, method }) => (
          <>
            <Figures>
              <Figure name="Domains today">
                <Link to="/provider/$provider" params={{ provider: provider_id }} search={{ tab: 'domains' }}>
                  {formatNumber(domains)}
                </Link>
              </Figure>
              <Figure name="Share of all domains">{formatShare(share)}</Figure>
            </Figures>
            {curve.length === 0 ? (
              <Empty>There is no history of it yet.</Empty>
            ) : (
              <Curve tool={tool} curve={curve} domains={domains} share={share} />
            )}
            {curve.some(({ measured }) => !measured) && (
              <p className="small soft">Gaps are days on which nothing was looked at.</p>
            )}
            <p className="small soft">{method.split('. Jaccard')[0]}.</p>
          </>
        )}
      </Answer>
    </Card>
  );
}

interface CurveProps {
  readonly tool: string;
  readonly curve: readonly Day[];
  readonly domains: number;
  readonly share: number;
}

function Curve({ tool, curve, domains, share }: CurveProps) {
  const ink = useInk();
  const days = useMemo(() => sharesOf(curve, domains, share), [curve, domains, share]);
  const option = useMemo(() => lineOf(days, ink), [days, ink]);
  const [first, last] = [curve[0], curve.at(-1)];
  return (
    <Chart
      label={`Domains of ${tool} by day: ${formatNumber(first?.domains)} on ${formatDay(first?.date)}, ${formatNumber(last?.domains)} on ${formatDay(last?.date)}`}
      option={option}
      height={300}
      table={
        <DataTable
          caption={`${tool} day by day`}
          columns={columns}
          rows={days.toReversed()}
          keyOf={({ date }: SharedDay) => date}
        />
      }
    />
  );
}

/** The curve is of today's panel, so today's answer tells how many domains are all. */
function sharesOf(curve: readonly Day[], domains: number, share: number): readonly SharedDay[] {
  return curve.map((day) => ({ ...day, share: share > 0 && day.measured ? (day.domains / domains) * share : null }));
}

function lineOf(days: readonly SharedDay[], { soft, line }: Ink) {
  const has = days.some(({ share }) => share !== null);
  return {
    grid: { left: 8, right: 24, top: 16, bottom: 8, containLabel: true },
    tooltip: {
      trigger: 'axis',
      formatter: ([point]: readonly { dataIndex: number }[]) => {
        const day = days[point?.dataIndex ?? -1];
        if (!day) return '';
        const said = day.measured ? `${formatNumber(day.domains)} domains, ${formatShare(day.share)}` : 'not looked at';
        return `${formatDay(day.date)}\n${said}`;
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
      axisLabel: { color: soft, ...(has && { formatter: formatShare }) },
      splitLine: { lineStyle: { color: line } },
    },
    series: {
      type: 'line',
      step: 'end',
      connectNulls: false,
      // A day between two gaps has no line: its point is all there is of it.
      showSymbol: true,
      symbol: (_: unknown, { dataIndex: at }: { dataIndex: number }) =>
        days[at - 1]?.measured || days[at + 1]?.measured ? 'none' : 'circle',
      symbolSize: 6,
      data: days.map((day) => (day.measured ? (has ? day.share : day.domains) : null)),
    },
  };
}
