// The comparison: its names are in the URL, and the table has a column for each.
import type { StackAnswer, StackProblem } from '@strata/client';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Notice } from '../../ui/states.tsx';
import { Problem } from '../answer/answer.tsx';
import { hostOf } from '../domain/host-of.ts';
import { withChanges } from '../search/search-params.ts';

export type Compared = 'domains' | 'providers';
/** Maximum number of columns. */
const MAX = 5;

/** The distinct names in a comma-separated list. */
export function namesOf(text = ''): readonly string[] {
  const names = text.split(',').flatMap((name) => name.trim() || []);
  return [...new Set(names)].slice(0, MAX);
}

const LABELS = {
  domains: { one: 'domain', example: 'example.com', what: 'their stacks, security postures and risks' },
  providers: { one: 'provider', example: 'Google Workspace', what: 'their domains, shares, gains and losses' },
} as const;

/** The form to add a name, and a hint while there are fewer than two. */
export function AddName({ kind, names }: { readonly kind: Compared; readonly names: readonly string[] }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const navigate = useNavigate({ from: '/compare' });
  const { one, example, what } = LABELS[kind];
  const add = () => {
    const added = kind === 'domains' ? namesOf(text).map(hostOf) : namesOf(text);
    const bad = kind === 'domains' ? added.find((name) => !/^[^\s.]+(?:\.[^\s.]+)+$/.test(name)) : undefined;
    setProblem(bad === undefined ? null : `“${bad}” is not a valid domain name. Example: ${example}`);
    if (bad !== undefined) return;
    const next = namesOf([...names, ...added].join(','));
    setText('');
    if (next.length > 0)
      void navigate({ search: (before) => withChanges(before, { [kind]: next.join(',') }), resetScroll: false });
  };
  return (
    <>
      {names.length < MAX && (
        <form
          className="compare-add"
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <label>
            Add a {one}
            <input
              value={text}
              onChange={({ target }) => setText(target.value)}
              placeholder={example}
              autoComplete="off"
              spellCheck={false}
              aria-invalid={problem !== null}
              aria-describedby={problem === null ? undefined : 'add-problem'}
            />
          </label>
          <button className="button" type="submit">
            Add
          </button>
          {problem !== null && (
            <p id="add-problem" className="small field-problem" role="alert">
              {problem}
            </p>
          )}
        </form>
      )}
      {names.length < 2 && (
        <Notice title={names.length === 0 ? `Choose ${kind} to compare` : `Add another ${one}`}>
          <p>
            Add {names.length === 0 ? `two ${kind}` : `another ${one}`} to compare {what}. Each uses one request.
          </p>
        </Notice>
      )}
    </>
  );
}

/** One row of the comparison. */
export interface Row<B> {
  readonly name: ReactNode;
  readonly key: string;
  /** The compared value; null if unknown, which is never different. */
  readonly value: (body: B) => string | number | null;
  readonly cell: (body: B, all: readonly B[]) => ReactNode;
}

interface TableProps<B> {
  readonly kind: Compared;
  readonly names: readonly string[];
  readonly queries: readonly UseQueryResult<StackAnswer<B>, StackProblem>[];
  readonly rows: readonly Row<B>[];
  readonly search: Readonly<Record<string, string>>;
  /** The header of a column whose answer has arrived. */
  readonly head: (body: B) => ReactNode;
}

interface CardProps<B> extends TableProps<B> {
  readonly actions?: ReactNode;
  readonly nameOf: (body: B) => string;
  /** The source of the answer about a name. */
  readonly source: (name: string, answer: StackAnswer<B>) => ReactNode;
}

/** The comparison with a source for each column. */
export function ComparisonCard<B>({ actions, nameOf, source, ...table }: CardProps<B>) {
  const answers = table.names.flatMap((name, i) => {
    const answer = table.queries[i]?.data;
    return answer ? [{ name, answer }] : [];
  });
  return (
    <Card
      title="Comparison"
      actions={
        <>
          {actions}
          <OnlyDifferences search={table.search} />
        </>
      }
      foot={
        answers.length > 0 &&
        answers.map(({ name, answer }) => (
          <div key={name}>
            <span className="small">{nameOf(answer.body)}</span>
            {source(name, answer)}
          </div>
        ))
      }
    >
      <ComparisonTable {...table} />
    </Card>
  );
}

/** The comparison table. Rows whose columns differ are labelled. */
function ComparisonTable<B>({ kind, names, queries, rows, search, head }: TableProps<B>) {
  const bodies = queries.flatMap(({ data }) => (data ? [data.body] : []));
  const refusal = queries.find(({ error }) => error?.status === 401 || error?.code === 'quota_exceeded')?.error;
  if (refusal && bodies.length === 0) return <Problem problem={refusal} />;
  const onlyDifferences = search.only === 'differences';
  const shown = rows
    .map((row) => ({ row, differs: differs(row, bodies) }))
    .filter((row) => row.differs || !onlyDifferences);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: horizontal scrolling must be possible with the keyboard
    <section className="table-scroll" tabIndex={0} aria-label={`Comparison of ${names.join(', ')}`}>
      <table className="compare">
        <thead>
          <tr>
            <td />
            {names.map((name, i) => (
              <th key={name} scope="col">
                <Head kind={kind} name={name} names={names} search={search} query={queries[i]} head={head} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ row, differs }) => (
            <tr key={row.key} className={differs ? 'differs' : undefined}>
              <th scope="row">
                {row.name} {differs && <Badge tone="accent">≠ differs</Badge>}
              </th>
              {names.map((name, i) => {
                const body = queries[i]?.data?.body;
                return <td key={name}>{body ? row.cell(body, bodies) : <span className="soft">–</span>}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function differs<B>({ value }: Row<B>, bodies: readonly B[]): boolean {
  return new Set(bodies.map(value).filter((known) => known !== null)).size > 1;
}

interface HeadProps<B> {
  readonly kind: Compared;
  readonly name: string;
  readonly names: readonly string[];
  readonly search: Readonly<Record<string, string>>;
  readonly query: UseQueryResult<StackAnswer<B>, StackProblem> | undefined;
  readonly head: (body: B) => ReactNode;
}

function Head<B>({ kind, name, names, search, query, head }: HeadProps<B>) {
  const remaining = names.filter((other) => other !== name).join(',');
  return (
    <div className="compare-head">
      <span>{query?.data ? head(query.data.body) : name}</span>
      <Link
        className="button small"
        to="/compare"
        search={withChanges(search, { [kind]: remaining })}
        preload={false}
        resetScroll={false}
      >
        <span aria-hidden="true">×</span>
        <span className="hidden-text">Remove {name}</span>
      </Link>
      {query?.isPending && <span className="soft small loading">Loading …</span>}
      {query?.error && (
        <span className="small compare-problem">
          <span className="field-problem">{query.error.detail || query.error.title}</span>
          {query.error.retryAfterSeconds !== null && (
            <button className="button small" type="button" onClick={() => void query.refetch()}>
              Retry
            </button>
          )}
        </span>
      )}
    </div>
  );
}

/** Shows all rows, or only those that differ. */
function OnlyDifferences({ search }: { readonly search: Readonly<Record<string, string>> }) {
  const navigate = useNavigate({ from: '/compare' });
  return (
    <label className="compare-only">
      <input
        type="checkbox"
        checked={search.only === 'differences'}
        onChange={({ target }) =>
          void navigate({
            search: (before) => withChanges(before, { only: target.checked ? 'differences' : '' }),
            resetScroll: false,
          })
        }
      />
      Show differences only
    </label>
  );
}
