// The colours and the font of the page for charts.

/** Colours of series and nodes, suitable for most colour vision deficiencies; patterns distinguish them for everyone. */
const COLOURS = {
  light: ['#0a5fb4', '#b45f06', '#1a7f5a', '#8a3d7c', '#5b6470', '#a67c00', '#c0392b', '#2a8fa8'],
  dark: ['#74b4f7', '#f0a860', '#5fcf9f', '#d58ac6', '#a7b1bb', '#e2c25a', '#ff9b92', '#6fd0e6'],
} as const;

export type ChartTheme = ReturnType<typeof chartTheme>;

export function chartTheme(shown: 'light' | 'dark') {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: token('--ink'),
    soft: token('--soft'),
    faint: token('--faint'),
    line: token('--line'),
    paper: token('--paper'),
    accent: token('--accent'),
    font: token('--sans'),
    colours: COLOURS[shown] as readonly string[],
  };
}

const indices = new Map<string, number>();

/** The colour of a provider, which is the same in all charts of the page. */
export function colourOf(id: string, { colours }: ChartTheme): string {
  const index = indices.get(id) ?? indices.size;
  indices.set(id, index);
  return colours[index % colours.length] ?? '';
}
