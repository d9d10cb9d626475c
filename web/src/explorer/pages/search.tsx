import { Page } from '../page.tsx';

export function Search() {
  return <Page title="Search">…</Page>;
}
