// Domains by name, provider, category and more: all filters stand in the address.
import './search.css';
import type { StackInput, StackPaths } from '@strata/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Ago } from '../../ui/ago.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { offsetOf, Pager } from '../answer/pager.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { Filters } from './search-filters.tsx';
import { Narrowed, type SearchState } from './search-narrowed.tsx';
import { withChanges } from './search-params.ts';

type Query = NonNullable<StackInput<'/stack/v1/search'>['query']>;
type Results = StackPaths['/stack/v1/search']['body'];
type Found = Results['results'][number];

const PAGE = 50;
/** More than anybody reads page by page. */
const MANY = 1_000;
const CHIPS = 6;

export function Search() {
  const { offset: from, ...filters }: SearchState = useSearch({ from: '/search' });
  const navigate = useNavigate();
  const offset = offsetOf(from);
  // The words are checked by the service, which names those it does not know.
  const input = { query: { ...filters, limit: PAGE, ...(offset > 0 && { offset }) } as Query };
  const query = useStack('/stack/v1/search', input, { keepsLast: 'any' });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page title={titleOf(filters)} lead="All filters must hold. Names that begin with the text come first.">
      <Filters filters={filters} onApply={(next) => void navigate({ to: '/search', search: next })} />
      <Narrowed filters={filters} />
      <Card title="Domains" foot={query.data && <Source path="/stack/v1/search" input={input} answer={query.data} />}>
        <Answer query={query} lines={12}>
          {(results) => (
            <div className="search-results">
              <p className="soft" role="status">
                {rangeOf(results)}
              </p>
              {results.total > MANY && <Many isFiltered={isFiltered} />}
              {results.results.length === 0 ? (
                <Nothing results={results} filters={filters} />
              ) : (
                <DataTable
                  caption="Domains found"
                  columns={COLUMNS}
                  rows={results.results}
                  keyOf={(row) => row.domain}
                />
              )}
              <Pager search={filters} offset={results.offset} limit={PAGE} rows={results} />
            </div>
          )}
        </Answer>
      </Card>
    </Page>
  );
}

const COLUMNS: readonly Column<Found>[] = [
  {
    name: 'Domain',
    value: ({ domain }) => domain,
    cell: ({ domain }) => (
      <Link to="/domain/$domain" params={{ domain }} preload={false}>
        {domain}
      </Link>
    ),
  },
  { name: 'Providers', cell: (found) => <Providers found={found} /> },
  { name: 'Score', isNumber: true, value: ({ score }) => score, cell: ({ score }) => formatNumber(score) },
  {
    name: 'State',
    value: ({ state }) => state,
    cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'plain'}>{state}</Badge>,
  },
  { name: 'Sector', value: ({ sector }) => sector, cell: ({ sector }) => formatName(sector) },
  {
    name: 'Looked at',
    value: ({ scanned_at: at }) => at,
    cell: ({ scanned_at: at }) => <Ago className="search-time" at={at} />,
  },
];

/** Each provider once, in the order of the categories, with what it is used for. */
function Providers({ found }: { readonly found: Found }) {
  const uses = Map.groupBy(found.services, ({ provider_id: id }) => id);
  const rest = uses.size - CHIPS;
  return (
    <ul className="search-chips">
      {[...uses].slice(0, CHIPS).map(([id, services]) => (
        <li key={id}>
          <Link
            to="/provider/$provider"
            params={{ provider: id }}
            preload={false}
            title={services.map(({ category }) => formatName(category)).join(', ')}
          >
            <Badge>{services[0]?.provider ?? id}</Badge>
          </Link>
        </li>
      ))}
      {rest > 0 && (
        <li>
          <Link to="/domain/$domain" params={{ domain: found.domain }} preload={false}>
            <span className="small">{rest} more</span>
          </Link>
        </li>
      )}
      {uses.size === 0 && <li className="soft">–</li>}
    </ul>
  );
}

function Many({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Notice title="That is more than one reads">
      <p>
        {isFiltered ? 'Add a filter or more of the name.' : 'This is every domain, in the order of the alphabet.'} For
        whole lists, a provider’s page and the security page have CSV.
      </p>
    </Notice>
  );
}

function Nothing({ results, filters }: { readonly results: Results; readonly filters: SearchState }) {
  const meant = results.did_you_mean ?? [];
  if (results.offset > 0) return <Empty>The list ends before this page.</Empty>;
  if (meant.length > 0) {
    const asked = (['provider', 'with'] as const).filter((name) => filters[name] !== undefined);
    // Of two names the answer does not say which one is unknown.
    const unknown = asked.length === 1 ? asked[0] : undefined;
    return (
      <div className="empty">
        <p>
          No provider is called {asked.map((name) => `“${filters[name]}”`).join(', or none ')}. Did you mean one of
          these?
        </p>
        <ul className="search-meant">
          {meant.map((name) => (
            <li key={name}>
              {unknown === undefined ? (
                name
              ) : (
                <Link to="/search" search={withChanges(filters, { [unknown]: name })}>
                  {name}
                </Link>
              )}
            </li>
          ))}
        </ul>
      </div>
    );
  }
  return (
    <div className="empty">
      <p>No domain meets all of this. Take a filter away, or search for a shorter part of the name.</p>
      {filters.q?.includes('.') && (
        <p>
          <Link to="/domain/$domain" params={{ domain: filters.q }} preload={false}>
            Look up {filters.q}
          </Link>
        </p>
      )}
    </div>
  );
}

function rangeOf({ total, offset, results }: Results): string {
  if (results.length === 0) return total === 0 ? 'No domains' : `${formatNumber(total)} domains`;
  if (results.length === total) return total === 1 ? '1 domain' : `${formatNumber(total)} domains`;
  return `${formatNumber(offset + 1)} to ${formatNumber(offset + results.length)} of ${formatNumber(total)} domains`;
}

function titleOf({ q, provider }: SearchState): string {
  if (q !== undefined) return `Search: ${q}`;
  return provider === undefined ? 'Search' : `Search: ${provider}`;
}
