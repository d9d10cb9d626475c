// The drawing part of a chart. A canvas, since SVG and HTML would need inline styles that the pages do not allow.
import { BarChart, LineChart, PieChart, SankeyChart, ScatterChart } from 'echarts/charts';
import {
  AriaComponent,
  DatasetComponent,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  TooltipComponent,
} from 'echarts/components';
import { type EChartsCoreOption, type EChartsType, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { useLayoutEffect, useRef } from 'react';
import { useTheme } from '../theme/theme.ts';
import { COLOURS } from './chart-colours.ts';

use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  DatasetComponent,
  GridComponent,
  LegendComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  PieChart,
  SankeyChart,
  ScatterChart,
  TooltipComponent,
]);

export default function ChartCanvas({
  label,
  option,
  height,
}: {
  readonly label: string;
  readonly option: EChartsCoreOption;
  readonly height: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(undefined);
  const { shown } = useTheme();
  useLayoutEffect(() => {
    const element = place.current;
    if (!element) return;
    const made = init(element, undefined, { renderer: 'canvas' });
    chart.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.dispose();
    };
  }, []);
  useLayoutEffect(() => {
    chart.current?.setOption(withLooks(option, shown), { notMerge: true });
    // On its way to paper a page waits for no next frame.
    if (matchMedia('print').matches) chart.current?.getZr().flush();
  }, [option, shown]);
  return <div ref={place} role="img" aria-label={label} style={{ height }} />;
}

function withLooks(option: EChartsCoreOption, theme: 'light' | 'dark'): EChartsCoreOption {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
  return {
    color: [...COLOURS[theme]],
    textStyle: { fontFamily: style.getPropertyValue('--sans'), color: token('--soft') },
    animation: !isStill,
    animationDuration: 250,
    // Patterns beside colours; the canvas has its label, so the library's own is not asked for.
    aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
    ...option,
    ...(option.xAxis ? { xAxis: withInk(option.xAxis, token) } : {}),
    ...(option.yAxis ? { yAxis: withInk(option.yAxis, token) } : {}),
    tooltip: {
      // HTML would come with inline styles.
      renderMode: 'richText',
      backgroundColor: token('--paper'),
      borderColor: token('--line'),
      textStyle: { color: token('--ink') },
      ...(option.tooltip as object | undefined),
    },
  };
}

interface AxisOption {
  readonly [name: string]: object | undefined;
}

/** Axes in the colours of the page; the library's own are for white grounds. */
function withInk(axis: unknown, token: (name: string) => string): unknown {
  if (Array.isArray(axis)) return axis.map((one) => withInk(one, token));
  const given = axis as AxisOption;
  return {
    ...given,
    nameTextStyle: { color: token('--soft'), ...given.nameTextStyle },
    axisLabel: { color: token('--soft'), ...given.axisLabel },
    axisLine: { ...given.axisLine, lineStyle: { color: token('--faint'), ...lineStyleOf(given.axisLine) } },
    splitLine: { ...given.splitLine, lineStyle: { color: token('--line'), ...lineStyleOf(given.splitLine) } },
  };
}

const lineStyleOf = (part: object | undefined): object | undefined =>
  part && 'lineStyle' in part ? (part.lineStyle as object) : undefined;
