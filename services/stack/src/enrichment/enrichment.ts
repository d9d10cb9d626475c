// Keeps advisories fresh: syncs each source when it is due, one after another, for as long as the service runs.
import type { Store, StoredSource } from '@strata/store';
import type { Logger } from 'pino';
import { sleep } from '../sleep.ts';
import { LAST_RETRY_MS, runSource } from './run-source.ts';
import type { AdvisorySource, SourceDeps } from './source.ts';

export interface EnrichmentDeps extends Omit<SourceDeps, 'signal'> {
  readonly store: Store;
  readonly sources: readonly AdvisorySource[];
  readonly logger: Logger;
  /** Called when a step has brought something. */
  readonly onStep: () => void;
  /** In place of real waits. */
  readonly sleep?: typeof sleep;
}

/** How often the sources are looked through. */
const LOOK_MS = 1_000;

/** Runs until `signal` aborts; returns when the sync under way has written down where it stands. */
export async function runEnrichment(deps: EnrichmentDeps, signal: AbortSignal): Promise<void> {
  const { store, sources, logger, now } = deps;
  while (!signal.aborted) {
    try {
      const known = new Map((await store.sources.list(store.clock())).map((source) => [source.name, source]));
      const due = longestDue(sources, known, now());
      if (due) await syncOnce(due, deps, signal);
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error }, 'syncing advisories failed');
    }
    await (deps.sleep ?? sleep)(LOOK_MS, signal);
  }
}

async function syncOnce(source: AdvisorySource, deps: EnrichmentDeps, signal: AbortSignal): Promise<void> {
  const { store, fetcher, directory, now, logger, onStep } = deps;
  const startedAt = performance.now();
  const end = await runSource(source, { store, fetcher, directory, now, signal, onStep });
  const told = { source: source.name, ...end, ms: Math.round(performance.now() - startedAt) };
  if (end.kind === 'failed') logger.warn(told, 'a source of advisories cannot be read');
  else if (end.kind !== 'busy') logger.info(told, 'advisories synced');
}

/** The one that waits longest, so that none is always passed over; before all others, in order, those never synced. */
function longestDue(
  sources: readonly AdvisorySource[],
  known: ReadonlyMap<string, StoredSource>,
  now: Date,
): AdvisorySource | undefined {
  const waiting = sources
    .filter(({ name }) => known.get(name)?.state !== 'syncing')
    .map((source) => ({ source, dueAt: known.get(source.name)?.nextAt?.getTime() ?? 0 }))
    // Further ahead than it was ever put off, it was put off by a clock that was ahead.
    .filter(({ source, dueAt }) => dueAt <= now.getTime() || dueAt > now.getTime() + source.everyMs + LAST_RETRY_MS);
  return waiting.sort((a, b) => a.dueAt - b.dueAt)[0]?.source;
}
