// Two to five domains or providers side by side. The address holds who is compared and how.
import { getRouteApi, Link } from '@tanstack/react-router';
import { Page } from '../frame/page.tsx';
import { CompareDomains } from './compare-domains.tsx';
import { CompareProviders } from './compare-providers.tsx';
import { AddName, type Compared, namesOf } from './compared.tsx';
import './compare.css';

const route = getRouteApi('/compare');

export function Compare() {
  const search = route.useSearch();
  const kind: Compared = search.kind === 'providers' || search.providers !== undefined ? 'providers' : 'domains';
  const names = namesOf(search[kind]);
  return (
    <Page
      title={kind === 'domains' ? 'Compare domains' : 'Compare providers'}
      lead="Two to five side by side. The address of this page holds the comparison."
      actions={
        kind === 'domains' ? (
          <Link className="button" to="/compare" search={{ kind: 'providers' }}>
            Compare providers
          </Link>
        ) : (
          <Link className="button" to="/compare">
            Compare domains
          </Link>
        )
      }
    >
      <AddName kind={kind} names={names} />
      {names.length > 0 && kind === 'domains' && <CompareDomains names={names} search={search} />}
      {names.length > 0 && kind === 'providers' && <CompareProviders names={names} search={search} />}
    </Page>
  );
}
