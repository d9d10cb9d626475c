// The query field: its errors, with the position, its help, and the facets that refine it.
import type { Facet, StackProblem } from '@strata/client';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { changed } from '../links/search-params.ts';

const EXAMPLES = [
  ['email:google-workspace NOT dmarc:reject', 'a provider of a category, and a policy it does not publish'],
  ['provider:(cloudflare OR fastly) tld:de', 'one of two providers, within a top-level domain'],
  ['score:[40 TO 60] sector:retail*', 'a range of scores'],
  ['scanned:>30d', 'the last scan is older than 30 days'],
  ['first_seen:30d -changed_since:7d', 'new within 30 days, without a change of services in the last 7'],
  ['name:*shop* -state:parked', 'a part of the name, without parked domains'],
] as const;

export function QueryHelp() {
  return (
    <details className="query-help">
      <summary>Query language</summary>
      <dl>
        {EXAMPLES.map(([query, meaning]) => (
          <div key={query}>
            <dt>
              <Link {...changed({ query })}>
                <code>{query}</code>
              </Link>
            </dt>
            <dd className="soft">{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="soft">
        Terms are combined with AND unless OR or parentheses say otherwise. Fields: <code>provider</code>, each category
        (<code>email</code>, <code>dns</code>, <code>cdn</code> …), <code>name</code>, <code>domain</code>,{' '}
        <code>tld</code>, <code>sector</code>, <code>state</code>, <code>confidence</code>, <code>grade</code>,{' '}
        <code>score</code>, <code>scanned</code>, <code>first_seen</code>, <code>changed_since</code>,{' '}
        <code>dmarc</code>, <code>spf</code>, <code>mta_sts</code>, <code>tls_rpt</code>, <code>dnssec</code>,{' '}
        <code>caa</code>, <code>bimi</code>, <code>tls</code>. The <a href="/reference">API reference</a> has the same
        search for programs.
      </p>
    </details>
  );
}

/** The query with a mark at the error; undefined for other problems. */
export function queryProblem({ code, errors }: StackProblem, query: string | undefined, name = 'query'): ReactNode {
  const error = errors.find(({ field }) => field === name);
  if (code !== 'invalid_parameter' || !error || query === undefined) return undefined;
  const characters = Array.from(query);
  const at = Math.min((error.position ?? 1) - 1, characters.length);
  const rest = characters.slice(at).join('');
  return (
    <div className="query-error" role="alert">
      <p>
        The {name === 'query' ? name : `query ${name}`} is invalid at character {at + 1}: {error.message}
      </p>
      <pre>
        <code>
          {characters.slice(0, at).join('')}
          <mark>{/^\S*/.exec(rest)?.[0] || '␣'}</mark>
          {rest.replace(/^\S*/, '')}
        </code>
      </pre>
    </div>
  );
}

/** Facets of the page, in their order. */
export const FACETS = 'email,dns,cdn,role,tld,sector,grade';
const SHOWN = 6;

/** Counts of all results; each value is a link that adds its condition to the query. */
export function Facets({ facets, query }: { readonly facets: readonly Facet[]; readonly query: string | undefined }) {
  return (
    <aside className="facets" aria-label="Refine the search">
      {facets
        .filter(({ values }) => values.length > 1)
        .map(({ facet, values }) => (
          <section key={facet}>
            <h3>{facet === 'tld' ? 'Top-level domain' : formatName(facet)}</h3>
            <ul>
              {values.slice(0, SHOWN).map((each) => (
                <li key={each.value}>
                  <Link {...changed({ query: refined(query, each.query) })} title={labelOf(facet, each)}>
                    {labelOf(facet, each)}
                  </Link>
                  <span className="soft number">{formatNumber(each.domains)}</span>
                </li>
              ))}
            </ul>
          </section>
        ))}
    </aside>
  );
}

const labelOf = (facet: string, { name }: Facet['values'][number]): string =>
  facet === 'sector' || facet === 'role' ? formatName(name) : name;

function refined(query: string | undefined, condition: string): string {
  if (query === undefined || query.trim() === '') return condition;
  return /\bOR\b/.test(query) ? `(${query}) AND ${condition}` : `${query} AND ${condition}`;
}
