// The comparison page for two to five domains or providers. The URL holds the complete state.
import { getRouteApi, Link } from '@tanstack/react-router';
import { Page } from '../frame/page.tsx';
import { CompareDomains } from './compare-domains.tsx';
import { CompareProviders } from './compare-providers.tsx';
import { CompareSegments } from './compare-segments.tsx';
import { AddName, type Compared, namesOf } from './comparison.tsx';
import './compare.css';

const route = getRouteApi('/compare');

export function Compare() {
  const search = route.useSearch();
  if (search.kind === 'segments') return <CompareSegments search={search} />;
  const kind: Compared = search.kind === 'providers' || search.providers !== undefined ? 'providers' : 'domains';
  const other: Compared = kind === 'domains' ? 'providers' : 'domains';
  const names = namesOf(search[kind]);
  const Comparison = kind === 'domains' ? CompareDomains : CompareProviders;
  return (
    <Page
      title={`Compare ${kind}`}
      lead="Compare two to five at once. You can share the URL of this page."
      actions={
        <>
          <Link className="button" to="/compare" search={other === 'providers' ? { kind: other } : {}}>
            Compare {other}
          </Link>
          <Link className="button" to="/compare" search={{ kind: 'segments' }}>
            Compare segments
          </Link>
        </>
      }
    >
      <AddName kind={kind} names={names} />
      {names.length > 0 && <Comparison names={names} search={search} />}
    </Page>
  );
}
