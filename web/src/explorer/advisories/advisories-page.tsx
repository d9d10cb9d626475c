// The advisories page: the list, or one advisory with its affected domains.
import './advisories.css';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Page } from '../frame/page.tsx';
import { withChanges } from '../search/search-params.ts';
import { SourcesCard } from '../status/sources-card.tsx';
import { AdvisoryList } from './list.tsx';
import { OpenedAdvisory } from './opened.tsx';

const route = getRouteApi('/advisories');

export function Advisories() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { advisory } = search;
  if (advisory !== undefined) {
    return (
      <Page
        title={advisory.slice(0, 60)}
        actions={
          <Link className="button" to="/advisories" search={withChanges(search, { advisory: undefined })}>
            All advisories
          </Link>
        }
      >
        <OpenedAdvisory key={advisory} id={advisory} />
      </Page>
    );
  }
  return (
    <Page
      title="Advisories"
      lead="Published vulnerabilities of the products that domains use. Observed versions are compared with the published version ranges; no vulnerability is tested."
    >
      <AdvisoryList search={search} onSearch={(next) => void navigate({ search: next, resetScroll: false })} />
      <SourcesCard />
    </Page>
  );
}
