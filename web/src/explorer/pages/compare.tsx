import { Page } from '../page.tsx';

export function Compare() {
  return <Page title="Compare">…</Page>;
}
