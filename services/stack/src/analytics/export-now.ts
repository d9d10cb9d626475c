// An export without a running service, for the command line.
import { type Position, removePositions } from '@strata/analytics-clickhouse';
import { StartError } from '@strata/http';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { openStoredRulebook } from '../scan/open-rulebook.ts';
import { openConfiguredStore } from '../scan/open-scanning.ts';
import { Exporting } from './exporting.ts';
import { openAnalytics } from './open-analytics.ts';

export interface ExportNowOptions {
  /** Starts from the beginning. */
  readonly isRebuild: boolean;
  readonly logger: Logger;
  readonly onBlock: (position: Position) => void;
  readonly signal: AbortSignal;
}

/**
 * Exports until ClickHouse has everything that is in the store, or until the signal aborts: a later call continues. Undefined
 * if a running service exports: it starts again for `isRebuild`. Throws a StartError without the setting.
 */
export async function exportNow(config: Config, options: ExportNowOptions): Promise<Position | undefined> {
  const { isRebuild, logger, onBlock, signal } = options;
  await using stack = new AsyncDisposableStack();
  const clickhouse = await openAnalytics(config, stack);
  if (!clickhouse) throw new StartError('STRATA_ANALYTICS_URL is not set: it names the ClickHouse to fill');
  await using store = await openConfiguredStore(config);
  const { rulebook } = await openStoredRulebook(store, config, { logger });
  if (isRebuild) await removePositions(clickhouse);
  // Awaited: both are closed at the end of this function.
  return await new Exporting({ store, clickhouse, rulebook }).runOnce(signal, onBlock);
}
