// Answers the questions from ClickHouse.
import type { Analytics, Within } from '@strata/analytics';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { ClickHouseError } from '../connection/clickhouse-error.ts';
import { appliedPosition } from '../export/position.ts';
import { marketsOf, scorecardIn } from './counts.ts';
import { querySet } from './domain-sets.ts';
import { adoptionIn, migrationsIn } from './history.ts';
import { leadersIn, neighboursIn, statisticsIn } from './providers.ts';
import { searched } from './search.ts';

/** The tables as an engine. Questions reject with ClickHouseError; `asOf` also while the tables are built. */
export function clickHouseAnalytics(clickhouse: ClickHouse): Analytics {
  const setOf = ({ within }: Within) => within && querySet(within.query);
  return {
    async asOf() {
      const position = await appliedPosition(clickhouse);
      if (position?.stage !== 'log')
        throw new ClickHouseError('unavailable', 'the tables in ClickHouse are being built');
      return { seq: position.seq, scanId: position.scanId };
    },
    search: (search) => searched(clickhouse, search),
    statistics: (options) => statisticsIn(clickhouse, options.now, setOf(options)),
    leaders: (options) => leadersIn(clickhouse, options, setOf(options)),
    markets: (options) => marketsOf(clickhouse, options, setOf(options)),
    neighbours: (provider, options) =>
      neighboursIn(clickhouse, provider, { ownerOf: options.ownerOf, within: setOf(options) }),
    scorecard: (options) => scorecardIn(clickhouse, setOf(options)),
    adoption: (provider, days) => adoptionIn(clickhouse, provider, days),
    flows: ({ within, ...options }) => migrationsIn(clickhouse, options, within && querySet(within)),
  };
}
