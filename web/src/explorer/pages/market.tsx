import { Page } from '../page.tsx';

export function Market() {
  return <Page title="Market">…</Page>;
}
