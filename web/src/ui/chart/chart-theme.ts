// The colours of the page for charts.
import { useMemo } from 'react';
import { useTheme } from '../theme/theme.ts';
import { COLOURS } from './chart-colours.ts';

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
