// The colours of the page for charts.
import { useMemo } from 'react';
import { useTheme } from '../theme/theme.ts';

/** Colours of series and nodes, suitable for most colour vision deficiencies; patterns distinguish them for everyone. */
export const COLOURS = {
  light: ['#0a5fb4', '#b45f06', '#1a7f5a', '#8a3d7c', '#5b6470', '#a67c00', '#c0392b', '#2a8fa8'],
  dark: ['#74b4f7', '#f0a860', '#5fcf9f', '#d58ac6', '#a7b1bb', '#e2c25a', '#ff9b92', '#6fd0e6'],
} as const;

export interface ChartTheme {
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly paper: string;
  /** For series and nodes. */
  readonly colours: readonly string[];
}

/** The colours of the current theme. */
export function useChartTheme(): ChartTheme {
  const { shown } = useTheme();
  return useMemo(() => {
    const style = getComputedStyle(document.documentElement);
    const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
    return {
      ink: token('ink'),
      soft: token('soft'),
      line: token('line'),
      paper: token('paper'),
      colours: COLOURS[shown],
    };
  }, [shown]);
}
