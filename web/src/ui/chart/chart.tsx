// Charts, loaded when the first one is shown. Each has its numbers as a table too, for those whom a picture tells nothing.
import type { EChartsCoreOption } from 'echarts/core';
import { lazy, type ReactNode, Suspense } from 'react';

/** Without it a page still has the numbers. */
const Canvas = lazy(() => import('./chart-canvas.tsx').catch(() => ({ default: NoCanvas })));

interface ChartProps {
  /** What is to be seen in it, in a sentence. */
  readonly label: string;
  /** Of ECharts; colours, fonts and patterns are set. Tooltips are drawn, not HTML. */
  readonly option: EChartsCoreOption;
  readonly height?: number;
  /** The same numbers, as a `DataTable`. */
  readonly table: ReactNode;
}

export function Chart({ label, option, height = 280, table }: ChartProps) {
  return (
    <figure className="chart">
      <Suspense fallback={<div className="skeleton" style={{ height }} />}>
        <Canvas label={label} option={option} height={height} />
      </Suspense>
      <details>
        <summary>The numbers as a table</summary>
        {table}
      </details>
    </figure>
  );
}

function NoCanvas() {
  return <p className="empty">The drawing could not be loaded. Its numbers are in the table below.</p>;
}
