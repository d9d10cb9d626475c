// Migrations as a Sankey diagram: previous provider on the left, new provider on the right.
import type { Flow } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Chart } from '../../ui/chart/chart.tsx';
import { type ChartTheme, colourOf } from '../../ui/chart/chart-theme.ts';
import { formatCount, formatName, formatNumber } from '../../ui/formats.ts';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { moveColumns } from '../links/columns.tsx';
import { withChanges } from '../links/search-params.ts';
import { type Period, searchParamsOf } from './migration-filter.ts';

/** Maximum number of flows in the diagram; the table has all. */
const MAX_DRAWN = 18;
const NODE_HEIGHT = 27;

const columnsOf = (period: Period): readonly Column<Flow>[] => [
  ...moveColumns,
  textColumn('Category', 'category', formatName),
  numberColumn('Domains', 'domains', (count, { category, from_id, to_id }) => (
    <Link
      to="/migrations"
      search={withChanges(
        { category, provider: from_id, direction: 'out', other: to_id },
        // Flows always cover a limited period, even if the list does not.
        searchParamsOf(period.hours === undefined ? { days: period.days ?? 30 } : period),
      )}
    >
      {formatNumber(count)}
    </Link>
  )),
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
  const drawn = flows.slice(0, MAX_DRAWN);
  const sides = [new Set(drawn.map(({ from }) => from)), new Set(drawn.map(({ to }) => to))];
  const height = Math.max(140, Math.max(...sides.map(({ size }) => size)) * NODE_HEIGHT + 24);
  return (
    <>
      <p className="row apart small soft" aria-hidden="true">
        <span>From</span>
        <span>To</span>
      </p>
      <Chart
        label={label}
        data={flows}
        draw={sankeyOf}
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
function sankeyOf(all: readonly Flow[], theme: ChartTheme) {
  const flows = all.slice(0, MAX_DRAWN);
  const side = (end: 'from' | 'to') =>
    [...Map.groupBy(flows, (flow) => flow[`${end}_id`])].map(([id, own]) => ({
      name: `${end} ${id}`,
      itemStyle: { color: colourOf(id, theme) },
      depth: end === 'from' ? 0 : 1,
      label: {
        position: end === 'from' ? 'right' : 'left',
        formatter: `${shortened(own[0]?.[end] ?? id)}  ${formatNumber(own.reduce((sum, { domains }) => sum + domains, 0))}`,
      },
      tooltip: own[0]?.[end] ?? id,
    }));
  return {
    // A partially drawn flow would be misleading.
    animation: false,
    tooltip: { trigger: 'item', formatter: ({ data }: { data: { tooltip: string } }) => data.tooltip },
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
      label: { color: theme.ink, fontSize: 12, textBorderColor: theme.paper, textBorderWidth: 3 },
      lineStyle: { color: 'source', opacity: 0.28, curveness: 0.5 },
      data: [...side('from'), ...side('to')],
      links: flows.map(({ from, from_id, to, to_id, domains }) => ({
        source: `from ${from_id}`,
        target: `to ${to_id}`,
        value: domains,
        tooltip: `${from} → ${to}: ${formatCount(domains, 'domain')}`,
      })),
    },
  };
}

/** Shortened so that two names fit on a phone. Braces are removed: ECharts treats them as placeholders. */
function shortened(name: string): string {
  const plain = name.replaceAll(/[{}]/g, '');
  return plain.length > 20 ? `${plain.slice(0, 19)}…` : plain;
}
