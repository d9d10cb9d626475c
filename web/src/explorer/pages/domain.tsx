import { Page } from '../page.tsx';

export function Domain() {
  return <Page title="Domain">…</Page>;
}
