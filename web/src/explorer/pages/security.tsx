import { Page } from '../page.tsx';

export function Security() {
  return <Page title="Security">…</Page>;
}
