import { Page } from '../page.tsx';

export function Status() {
  return <Page title="Status">…</Page>;
}
