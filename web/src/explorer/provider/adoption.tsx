// How many domains used a provider day by day.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card, Figure, Figures } from '../../ui/card.tsx';
import { Chart } from '../../ui/chart.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { formatDay, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer.tsx';
import { type Ink, useInk } from '../market/ink.ts';
import { Source } from '../source.tsx';
import { useStack } from '../use-stack.ts';

export const ADOPTION = '/stack/v1/intelligence/adoption/{tool}';
type Day = StackPaths[typeof ADOPTION]['body']['curve'][number];

const columns: readonly Column<Day>[] = [
  { name: 'Day', cell: ({ date }) => formatDay(date), value: ({ date }) => date },
  { name: 'Domains', isNumber: true, cell: ({ domains }) => formatNumber(domains), value: ({ domains }) => domains },
  { name: 'Gained', isNumber: true, cell: ({ added }) => formatNumber(added), value: ({ added }) => added },
  { name: 'Lost', isNumber: true, cell: ({ removed }) => formatNumber(removed), value: ({ removed }) => removed },
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
  // The curve is of today's panel, so today's answer tells how many domains are all.
  const all = share > 0 ? domains / share : 0;
  const option = useMemo(() => lineOf(curve, all, ink), [curve, all, ink]);
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
          rows={curve.toReversed()}
          keyOf={({ date }: Day) => date}
        />
      }
    />
  );
}

function lineOf(curve: readonly Day[], all: number, { soft, line }: Ink) {
  const axis = { axisLabel: { color: soft }, splitLine: { lineStyle: { color: line } } };
  return {
    grid: { left: 8, right: 16, top: 36, bottom: 8, containLabel: true },
    legend: { top: 0, left: 0, textStyle: { color: soft } },
    tooltip: { trigger: 'axis' },
    xAxis: {
      type: 'category',
      data: curve.map(({ date }) => formatDay(date)),
      axisLabel: { color: soft, hideOverlap: true },
      axisLine: { lineStyle: { color: line } },
    },
    yAxis: [
      { type: 'value', name: '', ...axis, scale: true, minInterval: 1 },
      {
        type: 'value',
        scale: true,
        axisLabel: { color: soft, formatter: (value: number) => formatShare(value) },
        splitLine: { show: false },
      },
    ],
    series: [
      {
        name: 'Domains',
        type: 'line',
        step: 'end',
        showSymbol: curve.length < 2,
        data: curve.map(({ domains }) => domains),
      },
      ...(all > 0
        ? [
            {
              name: 'Share of all',
              type: 'line',
              step: 'end',
              yAxisIndex: 1,
              showSymbol: false,
              lineStyle: { type: 'dashed' },
              tooltip: { valueFormatter: (value: number) => formatShare(value) },
              data: curve.map(({ domains }) => domains / all),
            },
          ]
        : []),
    ],
  };
}
