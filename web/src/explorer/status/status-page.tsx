// How the service is: its health, what it knows and how fresh that is, its public log and keys.
import './status.css';
import { Page } from '../frame/page.tsx';
import { KeysCard } from './keys-card.tsx';
import { KnowledgeCard } from './knowledge-card.tsx';
import { LedgerCard } from './ledger-card.tsx';
import { ServiceCard } from './service-card.tsx';
import { SourcesCard } from './sources-card.tsx';

export function Status() {
  return (
    <Page title="Status" lead="How the service is, what it knows, and what to check it with.">
      <ServiceCard />
      <KnowledgeCard />
      <SourcesCard />
      <LedgerCard />
      <KeysCard />
    </Page>
  );
}
