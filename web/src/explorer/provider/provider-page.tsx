// The provider page. Each tab loads its data when it is opened.
import '../market/market.css';
import './provider.css';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { formatName } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { offsetOf } from '../answer/pager.tsx';
import { Page } from '../frame/page.tsx';
import { Choices, choice } from '../market/choices.tsx';
import { Adoption } from './adoption.tsx';
import { CoAdoption } from './co-adoption.tsx';
import { Customers } from './customers.tsx';
import { Domains } from './domains.tsx';
import { Facts } from './facts.tsx';
import { Overview } from './overview.tsx';
import { SupplyChain } from './supply-chain.tsx';
import { useProvider } from './use-provider.ts';

const TABS = [
  ['', 'Overview'],
  ['domains', 'Domains'],
  ['customers', 'Gained and lost'],
  ['adoption', 'Adoption'],
  ['company', 'Used together with'],
  ['dependence', 'Supply chain'],
] as const;

export function Provider() {
  const { provider } = useParams({ from: '/provider/$provider' });
  // The key resets the state for another provider, so that its lists do not show the previous provider's rows.
  return <ProviderPage key={provider} provider={provider} />;
}

function ProviderPage({ provider }: { readonly provider: string }) {
  const search = useSearch({ from: '/provider/$provider' });
  const tab = TABS.find(([id]) => id === search.tab)?.[0] ?? '';
  const offset = offsetOf(search.offset);
  const { query, input } = useProvider(provider, tab === 'domains' ? offset : 0);
  const body = query.data?.body;
  return (
    <Page
      title={body?.provider ?? formatName(provider)}
      lead={body && <Facts provider={body} />}
      actions={
        <Link to="/compare" search={{ providers: provider }} className="button">
          Compare
        </Link>
      }
    >
      <Choices label="Sections of this page">
        {TABS.map(([id, name]) => (
          <Link
            key={id}
            to="/provider/$provider"
            params={{ provider }}
            search={id === '' ? {} : { tab: id }}
            resetScroll={false}
            {...choice(id === tab)}
          >
            {name}
          </Link>
        ))}
      </Choices>
      {tab === 'customers' && <Customers provider={provider} search={search} />}
      {tab === 'adoption' && <Adoption provider={provider} />}
      {tab === 'company' && <CoAdoption provider={provider} />}
      {tab === 'dependence' && <SupplyChain provider={provider} />}
      {(tab === '' || tab === 'domains') && (
        <Answer query={query} lines={12}>
          {(loaded, answer) =>
            tab === 'domains' ? (
              <Domains provider={loaded} input={input} answer={answer} search={search} />
            ) : (
              <Overview provider={loaded} input={input} answer={answer} />
            )
          }
        </Answer>
      )}
    </Page>
  );
}
