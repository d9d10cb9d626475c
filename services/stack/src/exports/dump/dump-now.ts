// A dump without a running service, for the command line.
import path from 'node:path';
import { StartError } from '@strata/http';
import type { Logger } from 'pino';
import { openAnalytics } from '../../analytics/open-analytics.ts';
import type { Config } from '../../config.ts';
import { EventBus } from '../../events.ts';
import { knownNames } from '../../index/known-names.ts';
import { openDomains } from '../../index/open-domains.ts';
import { completeTables } from '../../routes/exports/tables.ts';
import { openStoredRulebook } from '../../scan/open-rulebook.ts';
import { openConfiguredStore } from '../../scan/open-scanning.ts';
import { dumpToday } from './nightly.ts';

/** Replaces the dump of today. Throws a StartError without a configured folder, or while another process dumps. */
export async function dumpNow(config: Config, logger: Logger, signal: AbortSignal) {
  const { dumpAddress: address, dataDirectory } = config;
  if (!address) throw new StartError('STRATA_DUMP_URL is not set: it names the folder or bucket of dumps');
  const scratch = path.join(dataDirectory, 'dump-now');
  await using store = await openConfiguredStore(config);
  const { rulebook } = await openStoredRulebook(store, config, { logger });
  // A snapshot of its own: the other one may be in use by the service.
  const file = path.join(dataDirectory, 'dump-now.snapshot');
  await using stack = new AsyncDisposableStack();
  const clickhouse = await openAnalytics(config, stack);
  const events = new EventBus(logger);
  const domains = stack.use(await openDomains({ store, file, clickhouse, logger, events, rulebook }));
  const app = { ...domains, names: knownNames(rulebook), rulebook, store, clock: store.clock };
  const deps = { address, store, scratch, tables: completeTables(app), now: store.clock };
  const outcome = await dumpToday(deps, { isReplaced: true, signal });
  if (typeof outcome === 'string') throw new StartError('another process is writing a dump');
  return outcome;
}
