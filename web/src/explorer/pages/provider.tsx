import { Page } from '../page.tsx';

export function Provider() {
  return <Page title="Provider">…</Page>;
}
