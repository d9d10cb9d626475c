// Switches between the light, dark and system theme.
import { setTheme, type Theme, useChosenTheme } from './theme.ts';

const NEXT: Readonly<Record<Theme, Theme>> = { system: 'light', light: 'dark', dark: 'system' };
const SIGNS: Readonly<Record<Theme, string>> = { system: '◐', light: '☀', dark: '☾' };

export function ThemeSwitch() {
  const theme = useChosenTheme();
  return (
    <button className="button" type="button" onClick={() => setTheme(NEXT[theme])} title={`Theme: ${theme}`}>
      <span aria-hidden="true">{SIGNS[theme]}</span>
      <span className="hidden-text">{`Theme: ${theme}. Switch to ${NEXT[theme]}`}</span>
    </button>
  );
}
