// Syncs each advisory source when it is due, sequentially, until the service stops.
import { StoreError } from '@strata/db';
import { FailureLog } from '@strata/http';
import type { Logger } from 'pino';
import type { EventBus } from '../events.ts';
import { sleep } from '../sleep.ts';
import type { Store, StoredSource } from '../store/index.ts';
import { LAST_RETRY_MS, runSource } from './run-source.ts';
import type { AdvisorySource, SourceDeps } from './source.ts';

export interface EnrichmentDeps extends Omit<SourceDeps, 'signal'> {
  readonly store: Store;
  readonly sources: readonly AdvisorySource[];
  readonly logger: Logger;
  readonly events: EventBus;
  /** Replaces the delay in tests. */
  readonly sleep?: typeof sleep;
}

/** Interval between checks for due sources. */
const CHECK_INTERVAL_MS = 1_000;

/** Runs until `signal` aborts; returns after the sync in progress has stored its cursor. */
export async function runEnrichment(deps: EnrichmentDeps, signal: AbortSignal): Promise<void> {
  const { store, sources, logger, now } = deps;
  const failures = new FailureLog(logger, { what: 'syncing advisories' });
  while (!signal.aborted) {
    try {
      const known = new Map((await store.sources.list(store.clock())).map((source) => [source.name, source]));
      const due = longestDue(sources, known, now());
      if (due) await syncOnce(due, deps, signal);
      failures.recovered();
    } catch (error) {
      if (signal.aborted) break;
      // Other errors are those of one source, which waits longer each time.
      if (error instanceof StoreError) failures.failed(error);
      else logger.error({ err: error }, 'syncing advisories failed');
    }
    await (deps.sleep ?? sleep)(CHECK_INTERVAL_MS, signal);
  }
}

async function syncOnce(source: AdvisorySource, deps: EnrichmentDeps, signal: AbortSignal): Promise<void> {
  const { store, fetcher, directory, now, logger, events } = deps;
  const startedAt = performance.now();
  const onStep = () => events.publish('advisories-stored');
  const end = await runSource(source, { store, fetcher, directory, now, signal, onStep });
  const outcome = { source: source.name, ...end, ms: Math.round(performance.now() - startedAt) };
  if (end.kind === 'failed') logger.warn(outcome, 'an advisory source cannot be read');
  else if (end.kind !== 'busy') logger.info(outcome, 'advisories synced');
}

/** The source with the longest delay; sources that were never synced come first, in order. */
function longestDue(
  sources: readonly AdvisorySource[],
  known: ReadonlyMap<string, StoredSource>,
  now: Date,
): AdvisorySource | undefined {
  const waiting = sources
    .filter(({ name }) => known.get(name)?.state !== 'syncing')
    .map((source) => ({ source, dueAt: known.get(source.name)?.nextAt?.getTime() ?? 0 }))
    // A later time than any backoff was set by a clock that was ahead: due now.
    .filter(({ source, dueAt }) => dueAt <= now.getTime() || dueAt > now.getTime() + source.everyMs + LAST_RETRY_MS);
  return waiting.sort((a, b) => a.dueAt - b.dueAt)[0]?.source;
}
