// One sync of one source: each step is stored before the next is requested, so that a crash loses at most one step.
import { randomUUID } from 'node:crypto';
import { isSuperseded } from '@strata/db';
import type { Lease, Store, StoredSource } from '../store/index.ts';
import { type AdvisorySource, type SourceDeps, SourceError, type SourceName } from './source.ts';

export interface RunDeps extends SourceDeps {
  readonly store: Store;
  readonly onStep?: (progress: SyncProgress) => void;
}

export interface SyncProgress {
  readonly name: SourceName;
  readonly read: number;
  readonly skipped: number;
  /** The total, if known. */
  readonly total: number | undefined;
}

/** The outcome of a sync. `busy`: another process syncs the source. */
export type SyncEnd =
  | { readonly kind: 'complete' | 'interrupted'; readonly read: number; readonly skipped: number }
  | { readonly kind: 'failed'; readonly error: string; readonly read: number; readonly skipped: number }
  | { readonly kind: 'busy' };

/** The lease is renewed long before it expires: a slow process keeps it. */
const LEASE_MS = 90_000;
const RENEW_MS = 15_000;
const FIRST_RETRY_MS = 5 * 60_000;
export const LAST_RETRY_MS = 6 * 3_600_000;
/** Maximum backoff that a publisher can request. */
const LONGEST_RETRY_MS = 24 * 3_600_000;

/** Syncs, resumes an interrupted sync, and stores the outcome. Rejects only for internal errors: database, disk. */
export async function runSource(source: AdvisorySource, deps: RunDeps): Promise<SyncEnd> {
  const { store, now } = deps;
  const owner = randomUUID();
  // Leases use the store's clock, which processes share, not the demo's.
  const lease = (): Lease => ({ owner, until: new Date(store.clock().getTime() + LEASE_MS) });
  const begun = await store.sources.begin(source.name, { startedAt: now(), now: store.clock(), lease: lease() });
  if (!begun) return { kind: 'busy' };
  const lost = new AbortController();
  const renewing = setInterval(() => {
    store.sources.renew(source.name, lease()).then(
      (isOurs) => isOurs || lost.abort(),
      () => {},
    );
  }, RENEW_MS);
  const signal = AbortSignal.any([deps.signal, lost.signal]);
  const tally: Tally = { read: begun.read, skipped: begun.skipped, skippedExample: begun.skippedExample };
  const counts = () => ({ read: tally.read, skipped: tally.skipped });
  try {
    const cursor = await steps(source, begun, { ...deps, signal }, { lease, tally, lost });
    const finishedAt = now();
    const nextAt = new Date(finishedAt.getTime() + source.everyMs);
    const isOurs = await store.sources.finish(source.name, { cursor, finishedAt, nextAt }, lease());
    return isOurs ? { kind: 'complete', ...counts() } : { kind: 'busy' };
  } catch (error) {
    if (lost.signal.aborted) return { kind: 'busy' };
    // A superseded scheduler leaves the rest to its successor, without a backoff: this is not a failure.
    const isStopped = deps.signal.aborted || isSuperseded(error);
    const failures = isStopped ? begun.failures : begun.failures + 1;
    const message = isStopped ? null : error instanceof SourceError ? error.message : 'internal error';
    const nextAt = new Date(now().getTime() + (isStopped ? 0 : backoffAfter(error, failures)));
    await store.sources.stop(source.name, { error: message, failures, nextAt, ...tally }, lease());
    if (isStopped) return { kind: 'interrupted', ...counts() };
    if (!(error instanceof SourceError)) throw error;
    return { kind: 'failed', error: error.message, ...counts() };
  } finally {
    clearInterval(renewing);
  }
}

/** Grows with each consecutive failure; at least what the publisher requests. */
function backoffAfter(error: unknown, failures: number): number {
  const ownMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10), LAST_RETRY_MS);
  const askedMs = error instanceof SourceError ? error.retryAfterMs : 0;
  return Math.max(ownMs, Math.min(askedMs, LONGEST_RETRY_MS));
}

interface Tally {
  read: number;
  skipped: number;
  skippedExample: string | null;
}

interface Hold {
  readonly lease: () => Lease;
  readonly tally: Tally;
  readonly lost: AbortController;
}

async function steps(
  source: AdvisorySource,
  begun: StoredSource,
  deps: RunDeps,
  { lease, tally, lost }: Hold,
): Promise<unknown> {
  const { store, signal, onStep } = deps;
  const running = source.sync(begun.cursor, deps);
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await running.next();
      if (next.done) return next.value;
      const {
        records,
        exploited,
        named = [],
        isPart = false,
        scores,
        read,
        skipped,
        problem,
        cursor,
        total,
      } = next.value;
      if (records) await store.advisories.putRecords(records);
      if (exploited) await store.advisories.putExploited(exploited, { named, isPart });
      if (scores) await store.advisories.putScores(scores);
      tally.read += read;
      tally.skipped += skipped;
      if (skipped > 0) tally.skippedExample ??= problem;
      // The cursor advances last: after a crash the step is repeated, without effect.
      const isOurs = await store.sources.step(source.name, { cursor, ...tally }, lease());
      if (!isOurs) lost.abort();
      signal.throwIfAborted();
      onStep?.({ name: source.name, read: tally.read, skipped: tally.skipped, total });
    }
  } finally {
    // Closes files of the source in every case.
    await running.return(undefined);
  }
}
