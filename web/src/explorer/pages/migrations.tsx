// Which domains moved from whom to whom: flows of 30 days by category, and the list behind them.
import './market.css';
import type { Flow } from '@strata/client';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { Card } from '../../ui/card.tsx';
import { formatName, formatNumber } from '../../ui/formats.ts';
import { Empty } from '../../ui/states.tsx';
import { Answer } from '../answer.tsx';
import { EXCLUSIVE } from '../categories.ts';
import { CsvDownload } from '../market/csv-download.tsx';
import { FlowChart } from '../market/flow-chart.tsx';
import { chosen, filterOf, type MigrationFilter, providersOf } from '../market/migration-filter.ts';
import { MigrationForm, nameOf } from '../market/migration-form.tsx';
import { MigrationTable } from '../market/migration-table.tsx';
import { Page } from '../page.tsx';
import { Source } from '../source.tsx';
import { useStack } from '../use-stack.ts';

const PATH = '/stack/v1/stats/migrations';
/** The most that the API gives at once. */
const LIMIT = 1_000;

export function Migrations() {
  const filter = filterOf(useSearch({ from: '/migrations' }));
  const input = { query: { limit: LIMIT, category: filter.category } };
  const query = useStack(PATH, input, { keepsLast: true });
  const body = query.data?.body;
  const providers = useMemo(() => providersOf(body?.migrations ?? []), [body]);
  return (
    <Page title="Migrations" lead="Domains that left one provider for another, each confirmed by a second look.">
      <Card title="Which migrations">
        <MigrationForm filter={filter} providers={providers} />
      </Card>
      <Answer query={query} lines={16}>
        {(answered, answer) => {
          const { migrations, flows } = chosen(answered, filter, Date.now());
          const isCut = answered.total > answered.migrations.length;
          return (
            <>
              <Flows flows={flows} filter={filter} />
              <Card
                title={titleOf(filter, providers, migrations.length)}
                foot={
                  <>
                    <Export filter={filter} />
                    <Source path={PATH} input={input} answer={answer} />
                  </>
                }
              >
                {migrations.length === 0 ? (
                  <Empty>No migration fits these filters.</Empty>
                ) : (
                  <MigrationTable migrations={migrations} />
                )}
                {isCut && (
                  <p className="small soft">
                    Chosen from the newest {formatNumber(answered.migrations.length)} of {formatNumber(answered.total)}{' '}
                    migrations.
                  </p>
                )}
              </Card>
            </>
          );
        }}
      </Answer>
    </Page>
  );
}

function Flows({ flows, filter }: { readonly flows: readonly Flow[]; readonly filter: MigrationFilter }) {
  const groups = EXCLUSIVE.map((category) => ({
    category,
    own: flows.filter((flow) => flow.category === category),
  }))
    .filter(({ own }) => own.length > 0)
    // Neighbours of about the same height.
    .toSorted((a, b) => b.own.length - a.own.length);
  if (groups.length === 0) {
    return (
      <Card title="Flows of 30 days">
        <Empty>Nobody moved within 30 days.</Empty>
      </Card>
    );
  }
  return groups.map(({ category, own }, i) => {
    const name = formatName(category);
    const isAlone = i === groups.length - 1 && i % 2 === 0;
    return (
      <Card
        key={category}
        title={`${name}: flows of 30 days`}
        width={isAlone ? 'full' : 'half'}
        actions={
          filter.category === undefined && (
            <Link to="/migrations" search={(before) => ({ ...before, category })} resetScroll={false}>
              Only {name}
            </Link>
          )
        }
      >
        <FlowChart flows={own} label={`Migrations of 30 days, ${name}: from whom to whom`} />
      </Card>
    );
  });
}

function titleOf(
  { provider, direction, other }: MigrationFilter,
  providers: readonly (readonly [string, string])[],
  count: number,
): string {
  const many = `${formatNumber(count)} ${count === 1 ? 'migration' : 'migrations'}`;
  if (provider === undefined) return many;
  const name = nameOf(provider, providers);
  const end = other === undefined ? undefined : nameOf(other, providers);
  if (direction === 'out') return `${many} away from ${name}${end ? ` to ${end}` : ''}`;
  if (direction === 'in') return `${many} to ${name}${end ? ` from ${end}` : ''}`;
  return `${many} to and from ${name}${end ? ` with ${end}` : ''}`;
}

/** The file knows provider and direction alone. */
function Export({ filter: { category, provider, direction, other, isRecent } }: { readonly filter: MigrationFilter }) {
  const input = { query: { provider, direction } };
  const words = ['migrations', provider?.replaceAll(/[^\w.-]+/g, '-'), direction].filter((word) => word !== undefined);
  const isWider = category !== undefined || other !== undefined || isRecent;
  return (
    <CsvDownload
      key={words.join(' ')}
      path="/stack/v1/migrations/export.csv"
      input={input}
      fileName={`${words.join('-')}.csv`}
      {...(isWider ? { note: 'Filtered by provider and direction only: all categories and days.' } : {})}
    />
  );
}
