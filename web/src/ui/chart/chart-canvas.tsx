// The canvas of a chart. SVG and HTML would need inline styles, which the content security policy forbids.
import { BarChart, LineChart, SankeyChart } from 'echarts/charts';
import {
  AriaComponent,
  GridComponent,
  LegendScrollComponent,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  TooltipComponent,
} from 'echarts/components';
import { type EChartsCoreOption, type EChartsType, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { useLayoutEffect, useRef } from 'react';
import { useShownTheme } from '../theme/theme.ts';
import { type ChartTheme, chartTheme } from './chart-theme.ts';

use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  GridComponent,
  LegendScrollComponent,
  LineChart,
  MarkAreaComponent,
  MarkLineComponent,
  MarkPointComponent,
  SankeyChart,
  TooltipComponent,
]);

export interface CanvasProps<D> {
  /** Describes the chart in a sentence. */
  readonly label: string;
  readonly data: D;
  /** ECharts options; colours, fonts and patterns are preset. Tooltips are rich text, not HTML. */
  readonly draw: (data: D, theme: ChartTheme) => EChartsCoreOption;
  /** In pixels. */
  readonly height: number;
}

export default function ChartCanvas<D>({ label, data, draw, height }: CanvasProps<D>) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(undefined);
  const shown = useShownTheme();
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
    const theme = chartTheme(shown);
    chart.current?.setOption(withTheme(draw(data, theme), theme), { notMerge: true });
    // Printing does not wait for the next animation frame.
    if (matchMedia('print').matches) chart.current?.getZr().flush();
  }, [data, draw, shown]);
  return <div ref={container} role="img" aria-label={label} style={{ height }} />;
}

function withTheme(option: EChartsCoreOption, { font, ink, soft, faint, line, paper, colours }: ChartTheme) {
  // The defaults of the library are for white backgrounds.
  const axis = {
    nameTextStyle: { color: soft },
    axisLabel: { color: soft },
    axisLine: { lineStyle: { color: faint } },
    splitLine: { lineStyle: { color: line } },
  };
  const xAxis = { ...axis, axisTick: { show: false }, nameLocation: 'middle', nameGap: 28 };
  const legend = {
    type: 'scroll',
    top: 0,
    bottom: 'auto',
    textStyle: { color: soft, width: 140, overflow: 'truncate' },
    pageTextStyle: { color: soft },
    pageIconColor: soft,
    pageIconInactiveColor: line,
  };
  return {
    color: [...colours],
    grid: { left: 8, right: 24, top: 32, bottom: 24, containLabel: true },
    textStyle: { fontFamily: font, color: soft },
    animation: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    animationDuration: 250,
    // Patterns in addition to colours. The canvas has its own label, so the label of the library is disabled.
    aria: { enabled: true, label: { enabled: false }, decal: { show: true } },
    ...option,
    ...(option.legend ? { legend: merged(legend, option.legend) } : {}),
    ...(option.xAxis ? { xAxis: merged(xAxis, option.xAxis) } : {}),
    ...(option.yAxis ? { yAxis: merged(axis, option.yAxis) } : {}),
    tooltip: {
      // HTML tooltips would use inline styles.
      renderMode: 'richText',
      backgroundColor: paper,
      borderColor: line,
      textStyle: { color: ink },
      ...(option.tooltip as object | undefined),
    },
  };
}

/** The defaults with the given values, at all levels. */
function merged(defaults: object, given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const entries = Object.entries(given).map(([name, value]) => {
    const inner = (defaults as Readonly<Record<string, unknown>>)[name];
    return [name, typeof inner === 'object' && inner !== null ? merged(inner, value) : value];
  });
  return { ...defaults, ...Object.fromEntries(entries) };
}
