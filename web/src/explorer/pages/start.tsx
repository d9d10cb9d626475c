import { Page } from '../page.tsx';

export function Start() {
  return <Page title="Start">…</Page>;
}
