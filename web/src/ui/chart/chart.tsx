// Charts, loaded when the first one is shown. Each also has its data as a table, for accessibility.
import { lazy, type ReactNode, Suspense } from 'react';
import type { CanvasProps } from './chart-canvas.tsx';

/** If it cannot be loaded, the table is still available. */
const Canvas = lazy(() => import('./chart-canvas.tsx').catch(() => ({ default: NoCanvas }))) as <D>(
  props: CanvasProps<D>,
) => ReactNode;

interface ChartProps<D> extends CanvasProps<D> {
  /** The same data as a `DataTable`. */
  readonly table: ReactNode;
}

export function Chart<D>({ table, ...canvas }: ChartProps<D>) {
  return (
    <figure className="chart stack">
      <Suspense fallback={<div className="skeleton" style={{ height: canvas.height }} />}>
        <Canvas {...canvas} />
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
