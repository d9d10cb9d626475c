import { Page } from '../page.tsx';

export function Advisories() {
  return <Page title="Advisories">…</Page>;
}
