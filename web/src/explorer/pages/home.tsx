import { Page } from '../page.tsx';

export function Home() {
  return <Page title="Home">…</Page>;
}
