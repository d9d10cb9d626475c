import { Page } from '../page.tsx';

export function Alerts() {
  return <Page title="Alerts">…</Page>;
}
