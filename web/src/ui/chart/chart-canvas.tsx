// The canvas of a chart. SVG and HTML would need inline styles, which the content security policy forbids.
import { BarChart, LineChart, SankeyChart } from 'echarts/charts';
import {
  AriaComponent,
  GridComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  TooltipComponent,
} from 'echarts/components';
import { type EChartsCoreOption, type EChartsType, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { useLayoutEffect, useRef } from 'react';
import { useTheme } from '../theme/theme.ts';
import { COLOURS } from './chart-theme.ts';

use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  GridComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  SankeyChart,
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
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(undefined);
  const { shown } = useTheme();
  useLayoutEffect(() => {
    const element = container.current;
    if (!element) return;
    const instance = init(element, undefined, { renderer: 'canvas' });
    chart.current = instance;
    const observer = new ResizeObserver(() => instance.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      instance.dispose();
    };
  }, []);
  useLayoutEffect(() => {
    chart.current?.setOption(withTheme(option, shown), { notMerge: true });
    // Printing does not wait for the next animation frame.
    if (matchMedia('print').matches) chart.current?.getZr().flush();
  }, [option, shown]);
  return <div ref={container} role="img" aria-label={label} style={{ height }} />;
}

function withTheme(option: EChartsCoreOption, theme: 'light' | 'dark'): EChartsCoreOption {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  const prefersReducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
  return {
    color: [...COLOURS[theme]],
    textStyle: { fontFamily: style.getPropertyValue('--sans'), color: token('--soft') },
    animation: !prefersReducedMotion,
    animationDuration: 250,
    // Patterns in addition to colours. The canvas has its own label, so the label of the library is disabled.
    aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
    ...option,
    ...(option.xAxis ? { xAxis: withAxisColours(option.xAxis, token) } : {}),
    ...(option.yAxis ? { yAxis: withAxisColours(option.yAxis, token) } : {}),
    tooltip: {
      // HTML tooltips would use inline styles.
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

/** Axes in the colours of the page; the defaults of the library are for white backgrounds. */
function withAxisColours(axis: unknown, token: (name: string) => string): unknown {
  if (Array.isArray(axis)) return axis.map((one) => withAxisColours(one, token));
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
