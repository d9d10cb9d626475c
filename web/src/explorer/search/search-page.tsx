// The search page. All filters are in the URL.
import './search.css';
import type { StackInput, StackPaths, StackProblem } from '@strata/client';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { offsetOf, Pager } from '../answer/pager.tsx';
import { Page } from '../frame/page.tsx';
import { scannedColumn } from '../market/columns.tsx';
import { Conditions, type SearchState } from './search-conditions.tsx';
import { Filters } from './search-filters.tsx';
import { withChanges } from './search-params.ts';

type Query = NonNullable<StackInput<'/stack/v1/search'>['query']>;
type Results = StackPaths['/stack/v1/search']['body'];
type Found = Results['results'][number];

const PAGE = 50;
/** Above this number of results, a hint suggests more filters. */
const MANY = 1_000;
const CHIPS = 6;

export function Search() {
  const { offset: from, ...filters }: SearchState = useSearch({ from: '/search' });
  const navigate = useNavigate();
  const offset = offsetOf(from);
  // The service validates the parameters and reports unknown ones.
  const input = { query: { ...filters, limit: PAGE, ...(offset > 0 && { offset }) } as Query };
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Page title={titleOf(filters)} lead="Domains that match all filters. Names that start with the text come first.">
      <Filters filters={filters} onApply={(next) => void navigate({ to: '/search', search: next })} />
      <Conditions filters={filters} />
      <AnswerCard
        title="Domains"
        path="/stack/v1/search"
        input={input}
        keepsLast="any"
        lines={12}
        renderProblem={(problem) => similarProviders(problem, filters)}
      >
        {(results) => (
          <div className="search-results">
            <p className="soft" role="status">
              {rangeOf(results)}
            </p>
            {results.total > MANY && <Many isFiltered={isFiltered} />}
            {results.results.length === 0 ? (
              <NoResults results={results} filters={filters} />
            ) : (
              <DataTable
                caption="Search results"
                columns={COLUMNS}
                rows={results.results}
                keyOf={(row) => row.domain}
              />
            )}
            <Pager search={filters} offset={results.offset} limit={PAGE} rows={results} />
          </div>
        )}
      </AnswerCard>
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
  numberColumn('Score', ({ score }) => score),
  {
    name: 'State',
    value: ({ state }) => state,
    cell: ({ state }) => <Badge tone={state === 'active' ? 'good' : 'plain'}>{state}</Badge>,
  },
  textColumn('Sector', ({ sector }) => sector, formatName),
  scannedColumn('nowrap'),
];

/** Each provider once, in category order. */
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
    <Notice title="Too many results to browse">
      <p>
        {isFiltered ? 'Add a filter or a longer part of the name.' : 'The list has all domains in alphabetical order.'}{' '}
        For complete lists, use the CSV downloads on the provider and security pages.
      </p>
    </Notice>
  );
}

function NoResults({ results, filters }: { readonly results: Results; readonly filters: SearchState }) {
  if (results.offset > 0) return <Empty>This page is past the end of the list.</Empty>;
  return (
    <div className="empty">
      <p>No domains match all filters. Remove a filter, or search for a shorter part of the name.</p>
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

/** Links to providers with a similar name, if the service knows none with this one; undefined for other problems. */
function similarProviders({ code, errors }: StackProblem, filters: SearchState): ReactNode {
  const [first, second] = errors;
  const field = first?.field === 'with' ? 'with' : 'provider';
  // An invalid name has one message, an unknown one several suggestions.
  if (code !== 'invalid_parameter' || first?.field !== field || second?.field !== field) return undefined;
  return (
    <div className="empty">
      <p>No provider is named “{filters[field]}”. Did you mean:</p>
      <ul className="search-meant">
        {errors.map(({ message: name }) => (
          <li key={name}>
            <Link to="/search" search={withChanges(filters, { [field]: name })}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
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
