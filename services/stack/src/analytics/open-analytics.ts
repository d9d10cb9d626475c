// Opens the configured ClickHouse, if there is one.
import { type ClickHouse, ClickHouseError, openClickHouse } from '@strata/analytics-clickhouse';
import { StartError } from '@strata/http';
import type { Config } from '../config.ts';

/**
 * A server is not contacted: the service starts and serves while it is away. Throws a StartError if ClickHouse in this process
 * is not installed, or another process has its folder. Statements end when the signal aborts: a stop does not wait for them.
 */
export async function openAnalytics(
  { analyticsUrl: url }: Pick<Config, 'analyticsUrl'>,
  stack: AsyncDisposableStack,
  signal?: AbortSignal,
): Promise<ClickHouse | undefined> {
  if (url === undefined) return undefined;
  try {
    return stack.use(await openClickHouse(url, { signal }));
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error;
    throw new StartError(`STRATA_ANALYTICS_URL: ${error.message}`, { cause: error });
  }
}
