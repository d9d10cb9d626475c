// The comparison: its names are in the URL, and the table has a column for each.
import { Link, useNavigate } from '@tanstack/react-router';
import { Fragment, type ReactNode, useState } from 'react';
import { Badge } from '../../ui/badge.tsx';
import { Card } from '../../ui/card/card.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { Notice } from '../../ui/states.tsx';
import { Problem, SourceOf } from '../answer/answer.tsx';
import type { Query } from '../answer/use-stack.ts';
import { hostOf } from '../domain/host-of.ts';
import { changed, type Search } from '../links/search-params.ts';

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
  const navigate = useNavigate();
  const { one, example, what } = LABELS[kind];
  const add = () => {
    const added = kind === 'domains' ? namesOf(text).map(hostOf) : namesOf(text);
    const bad = kind === 'domains' ? added.find((name) => !/^[^\s.]+(?:\.[^\s.]+)+$/.test(name)) : undefined;
    setProblem(bad === undefined ? null : `“${bad}” is not a valid domain name. Example: ${example}`);
    if (bad !== undefined) return;
    const next = namesOf([...names, ...added].join(','));
    setText('');
    if (next.length > 0) void navigate(changed({ [kind]: next.join(',') }));
  };
  return (
    <>
      {names.length < MAX && (
        <form
          className="fields"
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <label className="field">
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
          <Button type="submit">Add</Button>
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

/** A row of one value in a format. */
export function rowOf<B, V extends string | number | null>(
  name: string,
  value: (body: B) => V,
  show: (value: V, body: B) => ReactNode,
): Row<B> {
  return { key: name, name, value, cell: (body) => show(value(body), body) };
}

interface ComparisonProps<B> {
  readonly kind: Compared;
  readonly names: readonly string[];
  /** One for each name. */
  readonly queries: readonly Query<B>[];
  readonly rows: readonly Row<B>[];
  readonly search: Search;
  /** The header of a column whose answer has arrived. */
  readonly head: (body: B) => ReactNode;
  readonly actions?: ReactNode;
}

/** The comparison with a source for each column. */
export function ComparisonCard<B>(props: ComparisonProps<B>) {
  const { names, queries, actions, search } = props;
  const navigate = useNavigate();
  return (
    <Card
      title="Comparison"
      actions={
        <>
          {actions}
          <label className="check">
            <input
              type="checkbox"
              checked={search.only === 'differences'}
              onChange={({ target }) => void navigate(changed({ only: target.checked ? 'differences' : undefined }))}
            />
            Show differences only
          </label>
        </>
      }
      foot={
        queries.some(({ data }) => data) &&
        queries.map((query, i) => (
          <Fragment key={names[i]}>
            {query.data && <p className="small note">{props.head(query.data.body)}</p>}
            <SourceOf query={query} />
          </Fragment>
        ))
      }
    >
      <ComparisonTable {...props} />
    </Card>
  );
}

/** The comparison table. Rows whose columns differ are labelled. */
function ComparisonTable<B>({ kind, names, queries, rows, search, head }: ComparisonProps<B>) {
  const bodies = queries.flatMap(({ data }) => (data ? [data.body] : []));
  const refusal = queries.find(({ error }) => error?.status === 401 || error?.code === 'quota_exceeded')?.error;
  if (refusal && bodies.length === 0) return <Problem problem={refusal} />;
  const shown = rows
    .map((row) => ({ ...row, differs: differs(row, bodies) }))
    .filter((row) => row.differs || search.only !== 'differences');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: horizontal scrolling must be possible with the keyboard
    <section className="table-scroll" tabIndex={0} aria-label={`Comparison of ${names.join(', ')}`}>
      <table className="compare">
        <thead>
          <tr>
            <td />
            {queries.map((query, i) => (
              <th key={names[i]} scope="col">
                <Head kind={kind} name={names[i] ?? ''} names={names} query={query} head={head} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ key, name, cell, differs }) => (
            <tr key={key} className={differs ? 'differs' : undefined}>
              <th scope="row">
                {name} {differs && <Badge tone="accent">≠ differs</Badge>}
              </th>
              {queries.map(({ data }, i) => (
                <td key={names[i]}>{data ? cell(data.body, bodies) : <span className="soft">–</span>}</td>
              ))}
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

interface HeadProps<B> extends Pick<ComparisonProps<B>, 'kind' | 'names' | 'head'> {
  readonly name: string;
  readonly query: Query<B>;
}

function Head<B>({ kind, name, names, query, head }: HeadProps<B>) {
  const { data, error, isPending, refetch } = query;
  const remaining = names.filter((other) => other !== name).join(',');
  return (
    <div className="row apart">
      <span>{data ? head(data.body) : name}</span>
      <Link className="button small" {...changed({ [kind]: remaining })} preload={false}>
        <span aria-hidden="true">×</span>
        <span className="hidden-text">Remove {name}</span>
      </Link>
      {isPending && <span className="soft small loading">Loading …</span>}
      {error && (
        <span className="small">
          <span className="field-problem">{error.detail || error.title}</span>
          {error.retryAfterSeconds !== null && (
            <Button kind="small" onClick={() => void refetch()}>
              Retry
            </Button>
          )}
        </span>
      )}
    </div>
  );
}
