// Migrations as a Sankey diagram: previous provider on the left, new provider on the right.
import type { Flow } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Chart } from '../../ui/chart/chart.tsx';
import { type ChartTheme, useChartTheme } from '../../ui/chart/chart-theme.ts';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { moveColumns } from '../market/columns.tsx';
import { withChanges } from '../search/search-params.ts';
import { type Period, searchParamsOf } from './migration-filter.ts';

/** Maximum number of flows in the diagram; the table has all. */
const MAX_DRAWN = 18;
const NODE_HEIGHT = 27;

const columnsOf = (period: Period): readonly Column<Flow>[] => [
  ...moveColumns,
  textColumn('Category', ({ category }) => category, formatName),
  {
    name: 'Domains',
    isNumber: true,
    cell: ({ category, from_id, to_id, domains }) => (
      <Link
        to="/migrations"
        search={withChanges(
          { category, provider: from_id, direction: 'out', other: to_id },
          // Flows always cover a limited period, even if the list does not.
          searchParamsOf(period.hours === undefined ? { days: period.days ?? 30 } : period),
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
  /** The period of the flows. */
  readonly period: Period;
  /** Describes the diagram in a sentence. */
  readonly label: string;
}

export function FlowChart({ flows, period, label }: FlowChartProps) {
  const theme = useChartTheme();
  const drawn = useMemo(() => flows.slice(0, MAX_DRAWN), [flows]);
  const option = useMemo(() => sankeyOf(drawn, theme), [drawn, theme]);
  const sides = [new Set(drawn.map(({ from }) => from)), new Set(drawn.map(({ to }) => to))];
  const height = Math.max(140, Math.max(...sides.map(({ size }) => size)) * NODE_HEIGHT + 24);
  return (
    <>
      <p className="market-sides small soft" aria-hidden="true">
        <span>From</span>
        <span>To</span>
      </p>
      <Chart
        label={label}
        option={option}
        height={height}
        table={<DataTable caption={label} columns={columnsOf(period)} rows={flows} keyOf={keyOf} />}
      />
      {drawn.length < flows.length && (
        <p className="small soft">
          The diagram shows the {drawn.length} largest of {formatNumber(flows.length)} flows; the table has all.
        </p>
      )}
    </>
  );
}

const keyOf = ({ category, from_id, to_id }: Flow) => `${category} ${from_id} ${to_id}`;

/** A provider that gains and loses is on both sides, since a Sankey diagram cannot have cycles. */
function sankeyOf(flows: readonly Flow[], { ink, paper, colours }: ChartTheme) {
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
    // A partially drawn flow would be misleading.
    animation: false,
    tooltip: {
      trigger: 'item',
      formatter: ({ data, name }: { data: { tooltip?: string }; name: string }) =>
        data.tooltip ?? flows.flatMap(namesOf).find(([id]) => id === name)?.[1] ?? '',
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
      // A border in the background colour keeps the names readable on the flows.
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
        tooltip: `${from} → ${to}: ${formatNumber(domains)} ${domains === 1 ? 'domain' : 'domains'}`,
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

/** Shortened so that two names fit on a phone. Braces are removed: ECharts treats them as placeholders. */
function shortened(name: string): string {
  const plain = name.replaceAll(/[{}]/g, '');
  return plain.length > 20 ? `${plain.slice(0, 19)}…` : plain;
}
