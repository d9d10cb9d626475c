import { Page } from '../page.tsx';

export function Migrations() {
  return <Page title="Migrations">…</Page>;
}
