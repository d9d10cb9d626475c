import { Page } from '../page.tsx';

export function Feeds() {
  return <Page title="Feeds">…</Page>;
}
