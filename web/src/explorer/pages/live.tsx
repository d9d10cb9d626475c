import { Page } from '../page.tsx';

export function Live() {
  return <Page title="Live">…</Page>;
}
