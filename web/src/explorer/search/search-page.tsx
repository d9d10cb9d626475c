// The search page. All filters are in the URL.
import './search-page.css';
import type { FoundDomain, StackInput, StackPaths, StackProblem } from '@strata/client';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Fragment, type ReactNode } from 'react';
import { Day } from '../../ui/ago.tsx';
import { Badge } from '../../ui/badge.tsx';
import { formatCount, formatName, formatNumber } from '../../ui/formats.ts';
import { Empty, Notice } from '../../ui/states.tsx';
import { minor, numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { CsvExport } from '../answer/csv-download.tsx';
import { Page } from '../frame/page.tsx';
import { domainColumn, scannedColumn } from '../links/columns.tsx';
import { DomainLink, ProviderLink } from '../links/links.tsx';
import { offsetOf, Pager } from '../links/pager.tsx';
import { changed, type Search as Filter } from '../links/search-params.ts';
import { FACETS, Facets, queryProblem } from './query-help.tsx';
import { SaveSegment } from './save-segment.tsx';
import { Conditions, Filters } from './search-filters.tsx';
import { suggestionQuery } from './suggestions.ts';

type Query = NonNullable<StackInput<'/stack/v1/search'>['query']>;
type Results = StackPaths['/stack/v1/search']['body'];

const PAGE = 50;
/** Above this number of results, a hint suggests more filters. */
const MANY = 1_000;
const CHIPS = 6;

export function Search() {
  const { offset: from, ...filters }: Filter = useSearch({ from: '/search' });
  const offset = offsetOf(from);
  // The service validates the parameters and reports unknown ones.
  const input = { query: { ...filters, facets: FACETS, limit: PAGE, ...(offset > 0 && { offset }) } as Query };
  return (
    <Page
      title={titleOf(filters)}
      lead="Domains that match all filters. By name, those that start with the text come first."
    >
      <Filters filters={filters} />
      <Conditions filters={filters} />
      <AnswerCard
        title="Domains"
        path="/stack/v1/search"
        input={input}
        keepsLast="any"
        renderProblem={(problem) => queryProblem(problem, filters.query) ?? similarProviders(problem, filters)}
      >
        {(results) => (
          <div className="search-results stack">
            <p className="soft" role="status">
              {rangeOf(results)}
            </p>
            {results.total > MANY && <Many isFiltered={Object.keys(filters).length > 0} />}
            {results.results.length === 0 ? (
              <NoResults results={results} filters={filters} />
            ) : (
              <div className="faceted">
                <DataTable
                  caption="Search results"
                  columns={COLUMNS}
                  rows={results.results}
                  keyOf={({ domain }) => domain}
                />
                <Facets facets={results.facets ?? []} query={filters.query} />
              </div>
            )}
            <Pager offset={results.offset} limit={PAGE} rows={results} />
            {results.total > 0 && (
              <CsvExport key={JSON.stringify(filters)} table="domains" filter={filters} name="domains">
                All {formatCount(results.total, 'domain')} in the order of their names, with the providers by role. A
                file costs one request of the quota, and one more for each 100 rows.
              </CsvExport>
            )}
            {filters.query !== undefined && <SaveSegment key={filters.query} query={filters.query} />}
          </div>
        )}
      </AnswerCard>
    </Page>
  );
}

const COLUMNS: readonly Column<FoundDomain>[] = [
  domainColumn,
  numberColumn('Score', 'score'),
  { name: 'Providers', cell: (found) => <Providers found={found} /> },
  minor(textColumn('State', 'state', (state) => <Badge tone={state === 'active' ? 'good' : 'plain'}>{state}</Badge>)),
  minor(textColumn('Sector', 'sector', formatName)),
  minor(textColumn('First scan', 'first_seen', (at) => <Day at={at} />)),
  minor(textColumn('Last change', 'changed_at', (at) => (at === null ? '–' : <Day at={at} />))),
  minor(scannedColumn),
];

/** Each provider once, in category order. */
function Providers({ found: { domain, services } }: { readonly found: FoundDomain }) {
  const uses = Map.groupBy(services, ({ provider_id: id }) => id);
  const rest = uses.size - CHIPS;
  return (
    <div className="chips">
      {[...uses].slice(0, CHIPS).map(([id, own]) => (
        <span key={id} title={own.map(({ role }) => formatName(role)).join(', ')}>
          <ProviderLink id={id}>
            <Badge>{own[0]?.provider ?? id}</Badge>
          </ProviderLink>
        </span>
      ))}
      {rest > 0 && (
        <DomainLink domain={domain} className="small">
          {rest} more
        </DomainLink>
      )}
      {uses.size === 0 && '–'}
    </div>
  );
}

function Many({ isFiltered }: { readonly isFiltered: boolean }) {
  return (
    <Notice title="Too many results to browse">
      <p>
        {isFiltered ? 'Add a filter or a longer part of the name.' : 'The list has all domains.'} The CSV download below
        has all of them.
      </p>
    </Notice>
  );
}

function NoResults({ results, filters }: { readonly results: Results; readonly filters: Filter }) {
  if (results.offset > 0) return <Empty>This page is past the end of the list.</Empty>;
  return (
    <div className="empty">
      <p>No domains match all filters. Remove a filter, or search for a shorter part of the name.</p>
      {filters.q?.includes('.') && (
        <p>
          <DomainLink domain={filters.q}>Look up {filters.q}</DomainLink>
        </p>
      )}
      {filters.q !== undefined && <NamedProviders text={filters.q} />}
    </div>
  );
}

/** The providers whose name contains the text of a search for domains. */
function NamedProviders({ text }: { readonly text: string }) {
  const { data: { providers } = { providers: [] } } = useQuery(suggestionQuery(text));
  if (providers.length === 0) return null;
  return (
    <p>
      Providers with “{text}” in their name:{' '}
      {providers.map(({ id, name }, i) => (
        <Fragment key={id}>
          {i > 0 && ', '}
          <ProviderLink id={id} name={name} />
        </Fragment>
      ))}
    </p>
  );
}

/** Links to providers with a similar name, if the service knows none with this one; undefined for other problems. */
function similarProviders({ code, errors }: StackProblem, filters: Filter): ReactNode {
  const [first, second] = errors;
  const field = first?.field === 'with' ? 'with' : 'provider';
  // An invalid name has one message, an unknown one several suggestions.
  if (code !== 'invalid_parameter' || first?.field !== field || second?.field !== field) return undefined;
  return (
    <div className="empty">
      <p>No provider named “{filters[field]}”. Did you mean:</p>
      <ul className="stack">
        {errors.map(({ message: name }) => (
          <li key={name}>
            <Link {...changed({ [field]: name })}>{name}</Link>
          </li>
        ))}
      </ul>
    </div>
  );
}

function rangeOf({ total, offset, results }: Results): string {
  if (total === 0) return 'No domains';
  if (results.length === 0 || results.length === total) return formatCount(total, 'domain');
  return `${formatNumber(offset + 1)} to ${formatNumber(offset + results.length)} of ${formatNumber(total)} domains`;
}

function titleOf({ q, provider }: Filter): string {
  const text = q ?? provider;
  return text === undefined ? 'Search' : `Search: ${text}`;
}
