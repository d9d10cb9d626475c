// Which domains moved from whom to whom: flows by category, and the list behind them.
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
import { filterOf, MIGRATIONS, type MigrationFilter, type Period, periodName, questionOf } from './migration-filter.ts';
import { MigrationForm } from './migration-form.tsx';
import { MigrationTable } from './migration-table.tsx';

type Body = StackPaths[typeof MIGRATIONS]['body'];

/** Migrations of one page of the list. */
const PAGE_LENGTH = 100;

export function Migrations() {
  const search = useSearch({ from: '/migrations' });
  const filter = filterOf(search);
  const offset = offsetOf(search.offset);
  const input = questionOf(filter, { limit: PAGE_LENGTH, offset });
  const query = useStack(MIGRATIONS, input, { keepsLast: 'page' });
  const name = query.data && nameIn(query.data.body, filter.provider);
  return (
    <Page title="Migrations" lead="Domains that left one provider for another, each confirmed by a second look.">
      <Card title="Which migrations">
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
      {isEver(filter.period) && migrations.length > 0 && (
        <p className="small soft">Of any age, those first seen last come first; how many there are is not counted.</p>
      )}
      {migrations.length === 0 ? (
        <Empty>{offset > 0 ? 'The list ends before this page.' : 'No migration fits these filters.'}</Empty>
      ) : (
        <MigrationTable migrations={migrations} />
      )}
      <Pager
        search={search}
        offset={offset}
        limit={limit}
        rows={isEver(filter.period) ? { shown: migrations.length, hasMore } : { total: body.total }}
      />
    </>
  );
}

const isEver = ({ days, hours }: Period) => days === undefined && hours === undefined;

function Flows({ body, filter }: { readonly body: Body; readonly filter: MigrationFilter }) {
  const { flows, flows_total: count } = body;
  const within = periodName(filter.period);
  const groups = EXCLUSIVE.map((category) => ({
    category,
    own: flows.filter((flow) => flow.category === category),
  }))
    .filter(({ own }) => own.length > 0)
    // Neighbours of about the same height.
    .toSorted((a, b) => b.own.length - a.own.length);
  if (groups.length === 0) {
    return (
      <Card title={`Flows: ${within}`}>
        <Empty>Nobody moved{filter.category || filter.provider ? ' like this' : ''} within this time.</Empty>
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
            title={`${name}: flows, ${within}`}
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
            <FlowChart
              flows={own}
              period={filter.period}
              label={`Migrations of ${name}, ${within}: from whom to whom`}
            />
          </Card>
        );
      })}
      {count > flows.length && (
        <p className="small soft market-aside">
          Shown are the {formatNumber(flows.length)} largest of {formatNumber(count)} flows. One category or one
          provider alone has more of its own.
        </p>
      )}
    </>
  );
}

function titleOf(body: Body, { provider, direction, other, period }: MigrationFilter): string {
  const { total } = body;
  const many = isEver(period)
    ? 'Migrations'
    : `${formatNumber(total)} ${total === 1 ? 'migration' : 'migrations'} within ${periodName(period)}`;
  if (provider === undefined) return many;
  const name = nameIn(body, provider);
  const end = other === undefined ? undefined : nameIn(body, other);
  if (direction === 'out') return `${many} away from ${name}${end ? ` to ${end}` : ''}`;
  if (direction === 'in') return `${many} to ${name}${end ? ` from ${end}` : ''}`;
  return `${many} to and from ${name}${end ? ` with ${end}` : ''}`;
}

/** What a provider is called, as an answer about it tells; else as the address has it. */
function nameIn({ migrations, flows }: Body, word: string | undefined): string | undefined {
  if (word === undefined) return undefined;
  for (const { from, from_id, to, to_id } of [...migrations, ...flows]) {
    if (from_id === word.toLowerCase()) return from ?? word;
    if (to_id === word.toLowerCase()) return to ?? word;
  }
  return word;
}

function Export({ filter }: { readonly filter: MigrationFilter }) {
  const { category, provider, direction, other, period } = filter;
  const words = ['migrations', provider?.replaceAll(/[^\w.-]+/g, '-'), direction].filter((word) => word !== undefined);
  return (
    <CsvDownload
      key={JSON.stringify(filter)}
      path="/stack/v1/migrations/export.csv"
      input={{ query: { category, provider, direction, other, ...period } }}
      name={words.join('-')}
    >
      The whole list as a file, in the same order; at most 1,000 rows.
    </CsvDownload>
  );
}
