// One provider: what it is, who uses it, who came and who went, and how much rests on it. Each part is asked for when it is opened.
import '../market/market.css';
import './provider.css';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { formatName } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { offsetOf } from '../answer/pager.tsx';
import { Page } from '../frame/page.tsx';
import { Choices, choice } from '../market/choices.tsx';
import { Adoption } from './adoption.tsx';
import { Company } from './company.tsx';
import { Customers } from './customers.tsx';
import { Dependence } from './dependence.tsx';
import { Domains } from './domains.tsx';
import { Facts } from './facts.tsx';
import { Overview } from './overview.tsx';
import { useProvider } from './use-provider.ts';

const TABS = [
  ['', 'Overview'],
  ['domains', 'Domains'],
  ['customers', 'Lost and gained'],
  ['adoption', 'Over time'],
  ['company', 'Used together with'],
  ['dependence', 'Dependence'],
] as const;

export function Provider() {
  const { provider } = useParams({ from: '/provider/$provider' });
  // Pages of a list keep the last one until the next is there; another provider starts anew.
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
      <Choices label="Parts of this page">
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
      {tab === 'company' && <Company provider={provider} />}
      {tab === 'dependence' && <Dependence provider={provider} />}
      {(tab === '' || tab === 'domains') && (
        <Answer query={query} lines={12}>
          {(answered, answer) =>
            tab === 'domains' ? (
              <Domains provider={answered} input={input} answer={answer} search={search} />
            ) : (
              <Overview provider={answered} input={input} answer={answer} />
            )
          }
        </Answer>
      )}
    </Page>
  );
}
