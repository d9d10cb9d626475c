// The engine of questions about sets of domains: the index in memory, or the tables in ClickHouse without an index.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Analytics, type DomainIndex, type IndexPosition, memoryAnalytics, usersOf } from '@strata/analytics';
import { type ClickHouse, clickHouseAnalytics } from '@strata/analytics-clickhouse';
import { sleep } from '../sleep.ts';
import type { KnownDomains } from './known-domains.ts';
import { TableFigures } from './known-domains.ts';
import { LiveIndex, type LiveIndexDeps } from './live-index.ts';
import { LiveLog } from './live-log.ts';
import { SegmentCounts } from './segment-counts.ts';

/** The figures are read again later: a start does not wait for a ClickHouse that hangs. */
const OPEN_WAIT_MS = 2_000;

export interface DomainsDeps extends LiveIndexDeps {
  /** If given, no index is built. */
  readonly clickhouse: ClickHouse | undefined;
}

export interface Domains extends AsyncDisposable {
  readonly analytics: Analytics;
  readonly known: KnownDomains;
  /** How far this process has applied the logs of the store. */
  readonly log: { readonly position: IndexPosition };
  /** Undefined with ClickHouse. */
  readonly index: DomainIndex | undefined;
  /** Applies everything in the store. */
  catchUp(): Promise<void>;
  /** Reads again what is kept from ClickHouse. Rejects while it is unavailable. */
  refresh(): Promise<void>;
}

/** With ClickHouse, which may be away; without, the index is up to date with the store. */
export async function openDomains({ clickhouse, ...deps }: DomainsDeps): Promise<Domains> {
  if (!clickhouse) return inMemory(await LiveIndex.open(deps));
  const { store, logger } = deps;
  const log = await LiveLog.open(deps);
  const analytics = clickHouseAnalytics(clickhouse, { storeId: await store.feed.storeId() });
  const known = new TableFigures({ analytics, store });
  const waiting = new AbortController();
  const reading = known
    .refresh()
    .catch((error: unknown) => logger.warn({ err: error }, 'ClickHouse has no answers yet'))
    .finally(() => waiting.abort());
  await Promise.race([reading, sleep(OPEN_WAIT_MS, waiting.signal)]);
  return {
    ...{ analytics, known, log, index: undefined },
    catchUp: () => log.catchUp(),
    refresh: () => known.refresh(),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

function inMemory(live: LiveIndex): Domains {
  const { index } = live;
  const counts = new SegmentCounts(index);
  return {
    analytics: memoryAnalytics(index, {
      populationOf: ({ text, query }) => counts.of(text, query),
      yieldToEventLoop,
    }),
    known: {
      get size() {
        return index.size;
      },
      usersOf: (provider) => usersOf(index, provider),
      historySince: async () => index.history,
    },
    ...{ log: index, index },
    catchUp: () => live.catchUp(),
    refresh: async () => {},
    [Symbol.asyncDispose]: () => live[Symbol.asyncDispose](),
  };
}
