// Compares two segments: scores, and the market shares of a category. The URL holds both queries.
import type { Segment, StackPaths } from '@strata/client';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Button } from '../../ui/controls/button.tsx';
import { Dialog } from '../../ui/controls/dialog.tsx';
import { formatDecimal, formatName, formatNumber, formatShare } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { numberColumn, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { stack } from '../answer/session.ts';
import { Page } from '../frame/page.tsx';
import { CATEGORIES, labelled } from '../links/categories.ts';
import { Choices, RoleChoices } from '../links/choices.tsx';
import { providerColumn } from '../links/columns.tsx';
import { TextField } from '../links/fields.tsx';
import { SearchLink } from '../links/links.tsx';
import { changed, oneOf, type Search } from '../links/search-params.ts';
import { queryProblem } from '../search/query-help.tsx';

const PATH = '/stack/v1/intelligence/comparison';
type Body = StackPaths[typeof PATH]['body'];
type Holder = Body['categories'][number]['providers'][number];
type Side = 'a' | 'b';

export function CompareSegments({ search }: { readonly search: Search }) {
  const navigate = useNavigate();
  const { a, b } = search;
  const category = oneOf(search.category, CATEGORIES) ?? 'email';
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    void navigate(changed({ a: String(form.get('a')).trim(), b: String(form.get('b')).trim() }));
  };
  return (
    <Page
      title="Compare segments"
      lead="Scores and market shares of the domains of two queries or saved segments."
      actions={
        <Link className="button" to="/compare">
          Compare domains
        </Link>
      }
    >
      <form className="card fields" onSubmit={apply} aria-label="Segments to compare">
        <TextField label="Segment a" name="a" value={a} placeholder="segment:name or a query" maxLength={2_000} />
        <TextField label="Segment b" name="b" value={b} placeholder="sector:retail*" maxLength={2_000} />
        <Button kind="primary" type="submit">
          Compare
        </Button>
      </form>
      {a !== undefined && b !== undefined && <Comparison queries={{ a, b }} category={category} role={search.role} />}
      <Segments search={search} />
    </Page>
  );
}

interface ComparisonProps {
  readonly queries: Readonly<Record<Side, string>>;
  readonly category: (typeof CATEGORIES)[number];
  readonly role: string | undefined;
}

function Comparison({ queries: { a, b }, category, role: chosen }: ComparisonProps) {
  return (
    <>
      <Choices label="Category" choices={labelled(CATEGORIES)} chosen={category} byDefault="email" name="category" />
      <AnswerCard
        title="Comparison"
        path={PATH}
        input={{ query: { a, b } }}
        renderProblem={(problem) => queryProblem(problem, a, 'a') ?? queryProblem(problem, b, 'b')}
      >
        {(body) => {
          const roles = body.roles.filter((each) => each.category === category);
          const role = roles.find((each) => each.role === chosen);
          const market = role ?? body.categories.find((each) => each.category === category);
          return (
            <>
              {[a, b].filter(isWord).map((word) => (
                <p key={word} className="note">
                  {word} is searched for in names. The saved segment with this name is segment:{word}.
                </p>
              ))}
              <DataTable caption="Scores" rows={SIDES} keyOf={(side) => side} columns={scoreColumns(body, { a, b })} />
              <p className="small soft note">{formatNumber(body.common)} domains are in both.</p>
              <RoleChoices roles={roles} chosen={role?.role} />
              <DataTable
                caption={`${role?.label ?? formatName(category)}: market share, largest difference first`}
                rows={market?.providers ?? []}
                keyOf={({ provider_id }) => provider_id}
                columns={SHARE_COLUMNS}
                empty="No known providers."
              />
              <p className="small soft note">
                Shares are of the domains with a known provider. A domain with several counts as an equal part for each.
              </p>
            </>
          );
        }}
      </AnswerCard>
    </>
  );
}

const SIDES: readonly Side[] = ['a', 'b'];

/** A query that may be meant as the name of a segment. */
const isWord = (query: string) => /^[\w-]+$/.test(query);

const scoreColumns = (body: Body, queries: Readonly<Record<Side, string>>): readonly Column<Side>[] => [
  { name: 'Segment', cell: (side) => <SearchLink of={{ query: queries[side] }}>{queries[side]}</SearchLink> },
  numberColumn('Domains', (side: Side) => body[side].domains),
  numberColumn('Mean score', (side: Side) => body[side].mean_score, formatDecimal),
  ...body.a.grades.map(({ grade }, at) => ({
    name: grade,
    isNumber: true,
    isMinor: true,
    cell: (side: Side) => formatNumber(body[side].grades[at]?.domains ?? null),
  })),
];

const points = (difference: number | null) =>
  difference === null ? '–' : `${difference > 0 ? '+' : ''}${(difference * 100).toFixed(1)} points`;

const SHARE_COLUMNS: readonly Column<Holder>[] = [
  providerColumn,
  numberColumn('In a', ({ a }) => a.share, formatShare),
  numberColumn('In b', ({ b }) => b.share, formatShare),
  numberColumn('Difference', 'difference', points),
];

/** The saved segments of the key. */
function Segments({ search }: { readonly search: Search }) {
  const queries = useQueryClient();
  const [deleting, setDeleting] = useState<string>();
  const remove = async (name: string) => {
    await stack.send('DELETE /stack/v1/segments/{name}', { path: { name } });
    await queries.invalidateQueries({ queryKey: ['/stack/v1/segments'] });
  };
  const dialog = deleting !== undefined && (
    <Dialog
      title={`Delete the segment “${deleting}”?`}
      action="Delete"
      onClose={(isConfirmed) => {
        setDeleting(undefined);
        if (isConfirmed) void remove(deleting);
      }}
    >
      <p className="soft">Queries that name it are refused from then on.</p>
    </Dialog>
  );
  return (
    <AnswerCard title="Your segments" path="/stack/v1/segments" input={{ query: { limit: 100 } }}>
      {({ segments }) => (
        <>
          {dialog}
          {segments.length === 0 ? (
            <Empty>
              This key has no segments. <Link to="/search">Search with a query</Link> and save it.
            </Empty>
          ) : (
            <DataTable
              caption="Saved segments"
              rows={segments}
              keyOf={({ name }) => name}
              columns={[
                textColumn<Segment, 'name'>('Name', 'name'),
                { name: 'Query', cell: ({ query }) => <SearchLink of={{ query }}>{query}</SearchLink> },
                {
                  name: 'Actions',
                  cell: ({ name }) => (
                    <span className="row">
                      {SIDES.map((side) => (
                        <Link
                          key={side}
                          className="button small"
                          {...changed({ [side]: `segment:${name}` })}
                          disabled={search[side] === `segment:${name}`}
                        >
                          Use as {side}
                        </Link>
                      ))}
                      <Button kind="small" onClick={() => setDeleting(name)}>
                        Delete
                      </Button>
                    </span>
                  ),
                },
              ]}
            />
          )}
        </>
      )}
    </AnswerCard>
  );
}
