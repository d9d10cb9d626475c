// The data coverage of the service.
import type { StackPaths } from '@strata/client';
import { Link } from '@tanstack/react-router';
import { Figure, Figures } from '../../ui/card/card.tsx';
import { formatName, formatNumber, formatTime } from '../../ui/formats.ts';
import { numberColumn } from '../../ui/table/columns.ts';
import { DataTable } from '../../ui/table/data-table.tsx';
import { AnswerCard } from '../answer/answer.tsx';
import { categoryColumn } from '../market/columns.tsx';

const STATS = '/stack/v1/stats';
type Stats = StackPaths[typeof STATS]['body'];

export function CoverageCard() {
  return (
    <AnswerCard title="Data coverage" path={STATS} input={{}} lines={8}>
      {(body) => (
        <>
          <Totals stats={body} />
          <h3 className="part-head">By category</h3>
          <ByCategory stats={body} />
          <p className="small soft">As of {formatTime(body.computed_at)}.</p>
        </>
      )}
    </AnswerCard>
  );
}

function Totals({
  stats: { domains, domains_by_state, services, providers, scans, migrations },
}: {
  readonly stats: Stats;
}) {
  const states = Object.entries(domains_by_state)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatNumber(count)} ${state}`)
    .join(', ');
  return (
    <Figures>
      <Figure name="Domains scanned" note={states}>
        <Link to="/search">{formatNumber(domains)}</Link>
      </Figure>
      <Figure name="Services found" note="any confidence">
        {formatNumber(services)}
      </Figure>
      <Figure name="Providers in use">
        <Link to="/market">{formatNumber(providers)}</Link>
      </Figure>
      <Figure name="Scans">{formatNumber(scans)}</Figure>
      <Figure
        name="Migrations in 30 days"
        note={`${formatNumber(migrations.last_7d)} in 7 days, ${formatNumber(migrations.last_24h)} in 24 hours`}
      >
        <Link to="/migrations" search={{ hours: '720' }}>
          {formatNumber(migrations.last_30d)}
        </Link>
      </Figure>
    </Figures>
  );
}

function ByCategory({ stats: { by_category } }: { readonly stats: Stats }) {
  return (
    <DataTable
      caption="Domains and providers by category"
      rows={by_category}
      keyOf={({ category }) => category}
      columns={[
        { ...categoryColumn, value: ({ category }) => formatName(category) },
        {
          name: 'Domains',
          isNumber: true,
          cell: ({ category, domains }) => (
            <Link to="/search" search={{ category }}>
              {formatNumber(domains)}
            </Link>
          ),
          value: ({ domains }) => domains,
        },
        numberColumn<Stats['by_category'][number]>('Providers', ({ providers }) => providers),
      ]}
    />
  );
}
