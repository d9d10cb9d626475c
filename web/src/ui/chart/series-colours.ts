// The page's colours for what ECharts would draw in its own.
import { useMemo } from 'react';
import { useTheme } from '../theme/theme.ts';
import { COLOURS } from './chart-colours.ts';

export interface Ink {
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly paper: string;
  /** For what is told apart. */
  readonly colours: readonly string[];
}

/** As they are in the theme that is shown now. */
export function useInk(): Ink {
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
