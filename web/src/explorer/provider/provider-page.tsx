// The provider page. Each tab loads its data when it is opened.
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { ExternalLink } from '../../ui/external-link.tsx';
import { formatName } from '../../ui/formats.ts';
import { Answer } from '../answer/answer.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { Choices } from '../links/choices.tsx';
import { CategoryLink } from '../links/links.tsx';
import { offsetOf } from '../links/pager.tsx';
import { Adoption, CoAdoption } from './adoption.tsx';
import { CatalogEntry } from './catalog-entry.tsx';
import { Customers } from './customers.tsx';
import { Domains, PAGE_LENGTH, type ProviderBody } from './domains.tsx';
import { Overview } from './overview.tsx';
import { SupplyChain } from './supply-chain.tsx';

const PATH = '/stack/v1/providers/{provider}';

const TABS = [
  ['', 'Overview'],
  ['domains', 'Domains'],
  ['customers', 'Gained and lost'],
  ['adoption', 'Adoption'],
  ['company', 'Used together with'],
  ['dependence', 'Supply chain'],
  ['detection', 'Detection'],
] as const;

export function Provider() {
  const { provider } = useParams({ from: '/provider/$provider' });
  // The key resets the state for another provider, so that its lists do not show the previous provider's rows.
  return <ProviderPage key={provider} provider={provider} />;
}

function ProviderPage({ provider }: { readonly provider: string }) {
  const search = useSearch({ from: '/provider/$provider' });
  const tab = TABS.find(([id]) => id === search.tab)?.[0] ?? '';
  // The header, the overview, the domains and the catalog entry share a request.
  const offset = (tab === 'domains' && offsetOf(search.offset)) || undefined;
  const query = useStack(PATH, { path: { provider }, query: { limit: PAGE_LENGTH, offset } }, { keepsLast: 'any' });
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
      <Choices label="Sections of this page" choices={TABS} chosen={tab} byDefault="" name="tab" isExclusive />
      {tab === 'customers' && <Customers provider={provider} search={search} />}
      {tab === 'adoption' && <Adoption provider={provider} />}
      {tab === 'company' && <CoAdoption provider={provider} />}
      {tab === 'dependence' && <SupplyChain provider={provider} />}
      {(tab === '' || tab === 'domains' || tab === 'detection') && (
        <Answer query={query}>
          {(loaded, source) => {
            if (tab === 'domains') return <Domains provider={loaded} source={source} />;
            if (tab === 'detection') return <CatalogEntry provider={loaded} source={source} />;
            return <Overview provider={loaded} source={source} />;
          }}
        </Answer>
      )}
    </Page>
  );
}

/** The facts below the name. */
function Facts({ provider: { owner, website, categories, aliases, provider } }: { readonly provider: ProviderBody }) {
  return (
    <span className="row">
      {website && URL.canParse(website) && (
        <ExternalLink href={website}>{new URL(website).hostname.replace(/^www\./, '')}</ExternalLink>
      )}
      <span>
        {categories.map((category, i) => (
          <span key={category}>
            {i > 0 && ', '}
            <CategoryLink category={category} />
          </span>
        ))}
      </span>
      {owner !== provider && <span>owned by {owner}</span>}
      {aliases.length > 0 && <span>also known as {aliases.join(', ')}</span>}
    </span>
  );
}
