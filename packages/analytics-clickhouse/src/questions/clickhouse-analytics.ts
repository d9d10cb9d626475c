// Answers the questions from ClickHouse.
import type { Analytics, Within } from '@strata/analytics';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { limited } from './ask.ts';
import { CheckedTables, type CheckedTablesOptions } from './checked-tables.ts';
import { marketsOf, scorecardIn } from './counts.ts';
import { querySet } from './domain-sets.ts';
import { adoptionIn, migrationsIn } from './history.ts';
import { leadersIn, neighboursIn, statisticsIn } from './providers.ts';
import { buildsIn, searched } from './search.ts';

/** The tables as an engine. Everything rejects with ClickHouseError, `unavailable` also while the tables are built. */
export function clickHouseAnalytics(clickhouse: ClickHouse, options: CheckedTablesOptions = {}): Analytics {
  const tables = new CheckedTables(clickhouse, options);
  const setOf = ({ within }: Within) => within && querySet(within.query);
  return {
    async asOf() {
      const { seq, scanId } = await tables.position();
      return { seq, scanId };
    },
    search: (search) => tables.ask(() => searched(limited(clickhouse, search.timeoutMs), search)),
    statistics: (options) => tables.ask(() => statisticsIn(clickhouse, options.now, setOf(options))),
    leaders: (options) => tables.ask(() => leadersIn(clickhouse, options, setOf(options))),
    markets: (options) => tables.ask(() => marketsOf(clickhouse, options, setOf(options))),
    neighbours: (provider, options) =>
      tables.ask(() => neighboursIn(clickhouse, provider, { ownerOf: options.ownerOf, within: setOf(options) })),
    scorecard: (options) => tables.ask(() => scorecardIn(clickhouse, setOf(options))),
    adoption: (provider, days) => tables.ask(() => adoptionIn(clickhouse, provider, days)),
    builds: (products) => tables.ask(() => buildsIn(clickhouse, products)),
    flows: ({ within, ...options }) => tables.ask(() => migrationsIn(clickhouse, options, within && querySet(within))),
  };
}
