// The migrations page: flows by category, and the list of migrations.
import '../market/market.css';
import type { StackPaths } from '@strata/client';
import { Link, useSearch } from '@tanstack/react-router';
import { Card } from '../../ui/card/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer/answer.tsx';
import { EXCLUSIVE } from '../answer/categories.ts';
import { CsvDownload } from '../answer/csv-download.tsx';
import { offsetOf, Pager } from '../answer/pager.tsx';
import { Source } from '../answer/source.tsx';
import { useStack } from '../answer/use-stack.ts';
import { Page } from '../frame/page.tsx';
import { FlowChart } from './flow-chart.tsx';
import { filterOf, MIGRATIONS, type MigrationFilter, type Period, periodName, requestOf } from './migration-filter.ts';
import { MigrationForm } from './migration-form.tsx';
import { MigrationTable } from './migration-table.tsx';

type Body = StackPaths[typeof MIGRATIONS]['body'];

/** Migrations of one page of the list. */
const PAGE_LENGTH = 100;

export function Migrations() {
  const search = useSearch({ from: '/migrations' });
  const filter = filterOf(search);
  const offset = offsetOf(search.offset);
  const input = requestOf(filter, { limit: PAGE_LENGTH, offset });
  const query = useStack(MIGRATIONS, input, { keepsLast: 'page' });
  const name = query.data && nameIn(query.data.body, filter.provider);
  return (
    <Page title="Migrations" lead="Domains that moved from one provider to another, confirmed by a second scan.">
      <Card title="Filter">
        <MigrationForm filter={filter} name={name} />
      </Card>
      <Answer query={query} lines={16}>
        {(body, answer) => (
          <>
            <Flows body={body} filter={filter} />
            <Card
              title={titleOf(body, filter)}
              foot={
                <>
                  <Export filter={filter} />
                  <Source path={MIGRATIONS} input={input} answer={answer} />
                </>
              }
            >
              <List body={body} filter={filter} search={search} />
            </Card>
          </>
        )}
      </Answer>
    </Page>
  );
}

interface ListProps {
  readonly body: Body;
  readonly filter: MigrationFilter;
  readonly search: Readonly<Record<string, string>>;
}

function List({ body, filter, search }: ListProps) {
  const { migrations, offset, limit, has_more: hasMore } = body;
  return (
    <>
      {isAllTime(filter.period) && migrations.length > 0 && (
        <p className="small soft">Migrations of any age, most recently observed first. The total is not counted.</p>
      )}
      {migrations.length === 0 ? (
        <Empty>{offset > 0 ? 'This page is past the end of the list.' : 'No migrations match these filters.'}</Empty>
      ) : (
        <MigrationTable migrations={migrations} />
      )}
      <Pager
        search={search}
        offset={offset}
        limit={limit}
        rows={isAllTime(filter.period) ? { shown: migrations.length, hasMore } : { total: body.total }}
      />
    </>
  );
}

const isAllTime = ({ days, hours }: Period) => days === undefined && hours === undefined;

function Flows({ body, filter }: { readonly body: Body; readonly filter: MigrationFilter }) {
  const { flows, flows_total: count } = body;
  const period = periodName(filter.period);
  const groups = EXCLUSIVE.map((category) => ({
    category,
    own: flows.filter((flow) => flow.category === category),
  }))
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
            actions={
              filter.category === undefined && (
                <Link
                  to="/migrations"
                  search={({ offset: _, ...before }) => ({ ...before, category })}
                  resetScroll={false}
                >
                  Only {name}
                </Link>
              )
            }
          >
            <FlowChart flows={own} period={filter.period} label={`${name} migrations between providers, ${period}`} />
          </Card>
        );
      })}
      {count > flows.length && (
        <p className="small soft market-aside">
          Showing the {formatNumber(flows.length)} largest of {formatNumber(count)} flows. Filter by category or
          provider to see more.
        </p>
      )}
    </>
  );
}

function titleOf(body: Body, { provider, direction, other, period }: MigrationFilter): string {
  const { total } = body;
  const count = isAllTime(period) ? 'Migrations' : `${formatNumber(total)} ${total === 1 ? 'migration' : 'migrations'}`;
  const within = isAllTime(period) ? '' : `, ${periodName(period)}`;
  if (provider === undefined) return count + within;
  const name = nameIn(body, provider);
  const end = other === undefined ? undefined : nameIn(body, other);
  if (direction === 'out') return `${count} from ${name}${end ? ` to ${end}` : ''}${within}`;
  if (direction === 'in') return `${count} to ${name}${end ? ` from ${end}` : ''}${within}`;
  return `${count} to and from ${name}${end ? ` with ${end}` : ''}${within}`;
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
  const { category, provider, direction, other, period } = filter;
  const nameParts = ['migrations', provider?.replaceAll(/[^\w.-]+/g, '-'), direction].filter(
    (part) => part !== undefined,
  );
  return (
    <CsvDownload
      key={JSON.stringify(filter)}
      path="/stack/v1/migrations/export.csv"
      input={{ query: { category, provider, direction, other, ...period } }}
      name={nameParts.join('-')}
    >
      The complete list in the same order, up to 1,000 rows.
    </CsvDownload>
  );
}
