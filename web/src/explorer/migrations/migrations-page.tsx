// The migrations page: flows by category, and the list of migrations.
import type { Migration, StackPaths } from '@strata/client';
import { Link, useSearch } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { formatCount, formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { minor, textColumn } from '../../ui/table/columns.ts';
import { type Column, DataTable } from '../../ui/table/data-table.tsx';
import { Answer } from '../answer/answer.tsx';
import { CsvDownload } from '../answer/csv-download.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { EXCLUSIVE } from '../links/categories.ts';
import { confirmedColumns, domainColumn, moveColumns } from '../links/columns.tsx';
import { offsetOf, Pager } from '../links/pager.tsx';
import { changed } from '../links/search-params.ts';
import { FlowChart } from './flow-chart.tsx';
import { filterOf, MIGRATIONS, type MigrationFilter, type Period, periodName, queryOf } from './migration-filter.ts';
import { MigrationForm } from './migration-form.tsx';

type Body = StackPaths[typeof MIGRATIONS]['body'];

/** Migrations of one page of the list. */
const PAGE_LENGTH = 100;

export function Migrations() {
  const search = useSearch({ from: '/migrations' });
  const filter = filterOf(search);
  const offset = offsetOf(search.offset) || undefined;
  const input = { query: { ...queryOf(filter), limit: PAGE_LENGTH, offset } };
  const query = useStack(MIGRATIONS, input, { keepsLast: 'page' });
  return (
    <Page title="Migrations" lead="Domains that moved from one provider to another, confirmed by a second scan.">
      <Card title="Filter">
        <MigrationForm filter={filter} name={query.data && nameIn(query.data.body, filter.provider)} />
      </Card>
      <Answer query={query}>
        {(body, source) => (
          <>
            <Flows body={body} filter={filter} />
            <Card
              title={titleOf(body, filter)}
              foot={
                <>
                  <Export filter={filter} />
                  {source}
                </>
              }
            >
              <List body={body} isAll={isAllTime(filter.period)} />
            </Card>
          </>
        )}
      </Answer>
    </Page>
  );
}

const COLUMNS: readonly Column<Migration>[] = [
  domainColumn,
  ...moveColumns,
  minor(textColumn('Category', 'category', formatName)),
  ...confirmedColumns,
];

function List({ body, isAll }: { readonly body: Body; readonly isAll: boolean }) {
  const { migrations, offset, limit, total, has_more: hasMore } = body;
  return (
    <>
      {isAll && migrations.length > 0 && (
        <p className="small soft">Migrations of any age, most recently observed first. The total is not counted.</p>
      )}
      <DataTable
        caption="Migrations"
        columns={COLUMNS}
        rows={migrations}
        keyOf={({ id }) => id}
        empty={offset > 0 ? 'This page is past the end of the list.' : 'No migrations match these filters.'}
      />
      <Pager offset={offset} limit={limit} rows={isAll ? { shown: migrations.length, hasMore } : { total }} />
    </>
  );
}

const isAllTime = ({ days, hours }: Period) => days === undefined && hours === undefined;

function Flows({ body, filter }: { readonly body: Body; readonly filter: MigrationFilter }) {
  const { flows, flows_total: count } = body;
  const period = periodName(filter.period);
  const groups = EXCLUSIVE.map((category) => ({ category, own: flows.filter((flow) => flow.category === category) }))
    .filter(({ own }) => own.length > 0)
    // Cards of similar height are placed next to each other.
    .toSorted((a, b) => b.own.length - a.own.length);
  if (groups.length === 0) {
    return (
      <Card title={`Flows, ${period}`}>
        <Empty>No flows{filter.category || filter.provider ? ' match these filters' : ''} in this period.</Empty>
      </Card>
    );
  }
  return (
    <>
      {groups.map(({ category, own }, i) => {
        const name = formatName(category);
        const isAlone = i === groups.length - 1 && i % 2 === 0;
        return (
          <Card
            key={category}
            title={`${name}: flows, ${period}`}
            width={isAlone ? 'full' : 'half'}
            actions={filter.category === undefined && <Link {...changed({ category })}>Only {name}</Link>}
          >
            <FlowChart flows={own} period={filter.period} label={`${name} migrations between providers, ${period}`} />
          </Card>
        );
      })}
      {count > flows.length && (
        <p className="small soft">
          Showing the {formatNumber(flows.length)} largest of {formatNumber(count)} flows. Filter by category or
          provider to see more.
        </p>
      )}
    </>
  );
}

function titleOf(body: Body, { provider, direction, other, period }: MigrationFilter): string {
  const count = isAllTime(period) ? 'Migrations' : formatCount(body.total, 'migration');
  const within = isAllTime(period) ? '' : `, ${periodName(period)}`;
  if (provider === undefined) return count + within;
  const [own, end] = { out: ['from', 'to'], in: ['to', 'from'], both: ['to and from', 'with'] }[direction ?? 'both'];
  const rest = other === undefined ? '' : ` ${end} ${nameIn(body, other)}`;
  return `${count} ${own} ${nameIn(body, provider)}${rest}${within}`;
}

/** The name of a provider from the answer, or the value from the URL. */
function nameIn({ migrations, flows }: Body, provider: string | undefined): string | undefined {
  if (provider === undefined) return undefined;
  for (const { from, from_id, to, to_id } of [...migrations, ...flows]) {
    if (from_id === provider.toLowerCase()) return from ?? provider;
    if (to_id === provider.toLowerCase()) return to ?? provider;
  }
  return provider;
}

function Export({ filter }: { readonly filter: MigrationFilter }) {
  const { provider, direction } = filter;
  const nameParts = ['migrations', provider?.replaceAll(/[^\w.-]+/g, '-'), direction];
  return (
    <CsvDownload
      key={JSON.stringify(filter)}
      path="/stack/v1/migrations/export.csv"
      input={{ query: queryOf(filter) }}
      name={nameParts.filter((part) => part !== undefined).join('-')}
    >
      The complete list in the same order, up to 1,000 rows.
    </CsvDownload>
  );
}
