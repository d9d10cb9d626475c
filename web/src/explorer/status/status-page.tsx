// The status page: health, data coverage, advisory sources, public log and keys.
import './status.css';
import { Page } from '../frame/page.tsx';
import { CoverageCard } from './coverage-card.tsx';
import { KeysCard } from './keys-card.tsx';
import { LedgerCard } from './ledger-card.tsx';
import { ServiceCard } from './service-card.tsx';
import { SourcesCard } from './sources-card.tsx';

export function Status() {
  return (
    <Page
      title="Status"
      lead="Service health, data coverage, advisory sources, and the public log and keys for verification."
    >
      <ServiceCard />
      <CoverageCard />
      <SourcesCard />
      <LedgerCard />
      <KeysCard />
    </Page>
  );
}
