// How the service is: its health, what it knows and how fresh that is, its public log and keys.
import './status.css';
import { Page } from '../page.tsx';
import { KeysCard } from '../status/keys-card.tsx';
import { KnowledgeCard } from '../status/knowledge-card.tsx';
import { LedgerCard } from '../status/ledger-card.tsx';
import { ServiceCard } from '../status/service-card.tsx';
import { SourcesCard } from '../status/sources-card.tsx';

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
