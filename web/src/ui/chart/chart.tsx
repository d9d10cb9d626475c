// Charts, loaded when the first one is shown. Each also has its data as a table, for accessibility.
import type { EChartsCoreOption } from 'echarts/core';
import { lazy, type ReactNode, Suspense } from 'react';

/** If it cannot be loaded, the table is still available. */
const Canvas = lazy(() => import('./chart-canvas.tsx').catch(() => ({ default: NoCanvas })));

interface ChartProps {
  /** Describes the chart in a sentence. */
  readonly label: string;
  /** ECharts options; colours, fonts and patterns are preset. Tooltips are rich text, not HTML. */
  readonly option: EChartsCoreOption;
  readonly height?: number;
  /** The same data as a `DataTable`. */
  readonly table: ReactNode;
}

export function Chart({ label, option, height = 280, table }: ChartProps) {
  return (
    <figure className="chart">
      <Suspense fallback={<div className="skeleton" style={{ height }} />}>
        <Canvas label={label} option={option} height={height} />
      </Suspense>
      <details>
        <summary>View as table</summary>
        {table}
      </details>
    </figure>
  );
}

function NoCanvas() {
  return <p className="empty">The chart could not be loaded. The data is in the table below.</p>;
}
