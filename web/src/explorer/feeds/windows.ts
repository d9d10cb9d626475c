// The periods for which mentions are counted.
export const WINDOWS = [
  ['1d', 'Today'],
  ['7d', '7 days'],
  ['30d', '30 days'],
] as const;

export type Window = (typeof WINDOWS)[number][0];

export const windowName = (window: string): string => WINDOWS.find(([id]) => id === window)?.[1] ?? window;
