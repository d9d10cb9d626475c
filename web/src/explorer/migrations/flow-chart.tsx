// Who lost domains to whom, as a flow diagram: the old provider on the left, the new one on the right.
import type { Flow } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart/chart.tsx';
import { type Ink, useInk } from '../../ui/chart/series-colours.ts';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { ProviderLink } from '../market/links.tsx';
import { withChanges } from '../search/search-params.ts';
import { type Period, wordsOf } from './migration-filter.ts';

/** More flows than these are a thicket; the table has them all. */
const MAX_DRAWN = 18;
const NODE_HEIGHT = 27;

const columnsOf = (period: Period): readonly Column<Flow>[] => [
  {
    name: 'From',
    cell: ({ from, from_id }) => <ProviderLink id={from_id} name={from} />,
    value: ({ from }) => from,
  },
  { name: 'To', cell: ({ to, to_id }) => <ProviderLink id={to_id} name={to} />, value: ({ to }) => to },
  { name: 'Category', cell: ({ category }) => formatName(category), value: ({ category }) => category },
  {
    name: 'Domains',
    isNumber: true,
    cell: ({ category, from_id, to_id, domains }) => (
      <Link
        to="/migrations"
        search={withChanges(
          { category, provider: from_id, direction: 'out', other: to_id },
          // Flows are those of a window, whatever the age of the list beside them.
          wordsOf(period.hours === undefined ? { days: period.days ?? 30 } : period),
        )}
      >
        {formatNumber(domains)}
      </Link>
    ),
    value: ({ domains }) => domains,
  },
];

interface FlowChartProps {
  /** Most domains first. */
  readonly flows: readonly Flow[];
  /** Which they are of. */
  readonly period: Period;
  /** What is to be seen, in a sentence. */
  readonly label: string;
}

export function FlowChart({ flows, period, label }: FlowChartProps) {
  const ink = useInk();
  const drawn = useMemo(() => flows.slice(0, MAX_DRAWN), [flows]);
  const option = useMemo(() => sankeyOf(drawn, ink), [drawn, ink]);
  const sides = [new Set(drawn.map(({ from }) => from)), new Set(drawn.map(({ to }) => to))];
  const height = Math.max(140, Math.max(...sides.map(({ size }) => size)) * NODE_HEIGHT + 24);
  return (
    <>
      <p className="market-sides small soft" aria-hidden="true">
        <span>Left</span>
        <span>Joined</span>
      </p>
      <Chart
        label={label}
        option={option}
        height={height}
        table={<DataTable caption={label} columns={columnsOf(period)} rows={flows} keyOf={keyOf} />}
      />
      {drawn.length < flows.length && (
        <p className="small soft">
          The {drawn.length} largest of {formatNumber(flows.length)} flows are drawn; the table has all of them.
        </p>
      )}
    </>
  );
}

const keyOf = ({ category, from_id, to_id }: Flow) => `${category} ${from_id} ${to_id}`;

/** A provider that gains and loses stands on both sides, since a circle cannot be drawn as a flow. */
function sankeyOf(flows: readonly Flow[], { ink, paper, colours }: Ink) {
  // The same provider has the same colour on both sides.
  const ids = [...new Set(flows.flatMap(({ from_id, to_id }) => [from_id, to_id]))];
  const colourOf = (id: string) => colours[ids.indexOf(id) % colours.length];
  const side = (prefix: string, ends: readonly (readonly [string, string])[], position: 'left' | 'right') =>
    [...new Map(ends)].map(([id, name]) => ({
      name: prefix + id,
      itemStyle: { color: colourOf(id) },
      depth: prefix === LEFT ? 0 : 1,
      label: { position, formatter: `${shortened(name)}  ${totalOf(flows, prefix, id)}` },
    }));
  return {
    // Half a flow tells the wrong thing.
    animation: false,
    tooltip: {
      trigger: 'item',
      formatter: ({ data, name }: { data: { told?: string }; name: string }) =>
        data.told ?? flows.flatMap(namesOf).find(([id]) => id === name)?.[1] ?? '',
    },
    series: {
      type: 'sankey',
      left: 4,
      right: 4,
      top: 8,
      bottom: 8,
      nodeWidth: 14,
      nodeGap: 10,
      nodeAlign: 'justify',
      draggable: false,
      emphasis: { focus: 'adjacency' },
      // A seam of the ground's colour keeps the names readable upon the bands.
      label: { color: ink, fontSize: 12, textBorderColor: paper, textBorderWidth: 3 },
      lineStyle: { color: 'source', opacity: 0.28, curveness: 0.5 },
      data: [
        ...side(
          LEFT,
          flows.map(({ from, from_id }) => [from_id, from]),
          'right',
        ),
        ...side(
          RIGHT,
          flows.map(({ to, to_id }) => [to_id, to]),
          'left',
        ),
      ],
      links: flows.map(({ from, from_id, to, to_id, domains }) => ({
        source: LEFT + from_id,
        target: RIGHT + to_id,
        value: domains,
        told: `${from} → ${to}: ${formatNumber(domains)} ${domains === 1 ? 'domain' : 'domains'}`,
      })),
    },
  };
}

const LEFT = 'from ';
const RIGHT = 'to ';

function namesOf({ from, from_id, to, to_id }: Flow): readonly (readonly [string, string])[] {
  return [
    [LEFT + from_id, from],
    [RIGHT + to_id, to],
  ];
}

function totalOf(flows: readonly Flow[], prefix: string, id: string): string {
  const ends = flows.filter(({ from_id, to_id }) => (prefix === LEFT ? from_id : to_id) === id);
  return formatNumber(ends.reduce((sum, { domains }) => sum + domains, 0));
}

/** Two names face each other on a phone's width. Braces would be ECharts' placeholders. */
function shortened(name: string): string {
  const plain = name.replaceAll(/[{}]/g, '');
  return plain.length > 20 ? `${plain.slice(0, 19)}…` : plain;
}
