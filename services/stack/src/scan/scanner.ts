// Runs scans: of the schedule in the background, and on demand during requests.
import { context, trace } from '@opentelemetry/api';
import { detect, type Evidence, type Profile, type Rulebook } from '@strata/detect';
import type { Prober } from '@strata/scan';
import type { Logger } from 'pino';
import type { EventBus } from '../events.ts';
import type { RecordedScan, Store } from '../store/index.ts';
import { ScanClaims } from './scan-claims.ts';
import { ScanRecorder } from './scan-recorder.ts';

/** The outcome of a scan. `failed` is an internal error (the database), already logged. */
export type ScanOutcome =
  | { readonly kind: 'recorded'; readonly profile: Profile; readonly recorded: RecordedScan }
  | { readonly kind: 'nonexistent' }
  /** Nothing could be resolved, and the domain is not tracked. */
  | { readonly kind: 'unmeasured' }
  | { readonly kind: 'opted-out' }
  | { readonly kind: 'failed' };

type OnDone = (domain: string, outcome: ScanOutcome) => void;

export interface ScannerDeps {
  readonly store: Store;
  readonly prober: Pick<Prober, 'probe'>;
  readonly rulebook: Rulebook;
  readonly logger: Logger;
  readonly now: () => Date;
  /** Whether a name that always exists can be resolved. */
  readonly isDnsWorking: () => Promise<boolean>;
  readonly events: EventBus;
}

export interface ScannerOptions {
  readonly confirmAfterMs: number;
  /** Concurrent probes of the schedule, in addition to at most `onDemandConcurrency` on-demand scans. */
  readonly concurrency: number;
  readonly onDemandConcurrency: number;
  readonly isOptedOut: (domain: string) => boolean;
  /** Duration of a lease; two minutes by default. */
  readonly leaseMs?: number;
}

export interface Scanner extends AsyncDisposable {
  /** Scans now, sharing a scan of the same domain in progress. Undefined if the concurrency limit is reached. */
  scan(domain: string): Promise<ScanOutcome> | undefined;
  /** Whether a scan of the domain is in progress. */
  isScanning(domain: string): boolean;
  /**
   * Scans due domains until `signal` aborts, concurrently with other processes on the same store; returns after the last probe has
   * ended and the remaining domains are released.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Scans these domains and ends; `onDone` is called after each. */
  runAll(domains: Iterable<string>, options: { readonly onDone: OnDone; readonly signal: AbortSignal }): Promise<void>;
}

const tracer = trace.getTracer('strata-stack');

/** A probe takes seconds, at worst most of a minute. */
const LEASE_MS = 120_000;

export function createScanner(deps: ScannerDeps, options: ScannerOptions): Scanner {
  const { store, prober, rulebook, logger, now, events } = deps;
  const inProgress = new Map<string, Promise<ScanOutcome>>();
  /** Domains that a request waits for. */
  const awaited = new Set<string>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let onDemand = 0;

  const redetect = (evidence: Evidence) => detect(evidence, rulebook);
  const recorder = new ScanRecorder(store, {
    confirmAfterMs: options.confirmAfterMs,
    redetect,
    roleOf: rulebook.roleOf,
  });

  /** A broken resolver reports every domain as nonexistent: that is not evidence about the domain. */
  async function verifyState(profile: Profile): Promise<Profile> {
    if (profile.state !== 'nonexistent' || (await deps.isDnsWorking())) return profile;
    return { ...profile, state: 'unmeasured', services: [] };
  }

  async function scanOnce(domain: string): Promise<ScanOutcome> {
    if (options.isOptedOut(domain)) return { kind: 'opted-out' };
    try {
      const startedAt = now();
      const evidence = await prober.probe(domain, { signal: stopping.signal });
      const profile = await verifyState(detect(evidence, rulebook));
      // An untracked name without any observation is not stored; a tracked one that was removed is part of the history.
      if (
        (profile.state === 'nonexistent' || profile.state === 'unmeasured') &&
        !(await store.domains.isTracked(domain))
      ) {
        return { kind: profile.state };
      }
      const scan = { profile, evidence, startedAt, finishedAt: now() };
      const recorded = await recorder.record(scan, { isAwaited: awaited.has(domain) });
      events.publish('scan-recorded', { domain: profile.domain, at: Date.parse(profile.observedAt) });
      return { kind: 'recorded', profile, recorded };
    } catch (error) {
      if (!stopping.signal.aborted) logger.error({ err: error, domain }, 'scan failed');
      return { kind: 'failed' };
    }
  }

  function share(domain: string): Promise<ScanOutcome> {
    const running = inProgress.get(domain);
    if (running) return running;
    const startedAt = performance.now();
    const span = tracer.startSpan('scan', { attributes: { 'strata.domain': domain } });
    const started = context
      .with(trace.setSpan(context.active(), span), () => scanOnce(domain))
      .then((outcome) => {
        const ended = metricOutcome(outcome);
        events.publish('scan-ended', { outcome: ended, ms: performance.now() - startedAt });
        span.setAttribute('strata.outcome', ended).end();
        return outcome;
      })
      .finally(() => {
        inProgress.delete(domain);
        awaited.delete(domain);
      });
    inProgress.set(domain, started);
    return started;
  }

  function scan(domain: string): Promise<ScanOutcome> | undefined {
    const running = inProgress.get(domain);
    if (!running && onDemand >= options.onDemandConcurrency) return undefined;
    awaited.add(domain);
    if (running) return running;
    onDemand += 1;
    return share(domain).finally(() => {
      onDemand -= 1;
    });
  }

  async function work(take: () => Promise<string | undefined>, onDone: OnDone, signal: AbortSignal): Promise<void> {
    const worker = async () => {
      for (let domain = await take(); domain !== undefined && !signal.aborted; domain = await take()) {
        onDone(domain, await share(domain));
      }
    };
    await Promise.all(Array.from({ length: options.concurrency }, worker));
  }

  async function runSchedule(stop: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([stop, stopping.signal]);
    const { concurrency, leaseMs = LEASE_MS } = options;
    await using claims = new ScanClaims({ store, logger, now }, { limit: concurrency * 2, leaseMs });
    signal.addEventListener('abort', () => void claims.stop(), { once: true });
    const onDone: OnDone = (domain, outcome) => {
      // Otherwise it would stay due, and first.
      if (outcome.kind === 'opted-out') claims.reschedule(domain);
      else claims.end(domain);
    };
    await work(() => claims.take(signal), onDone, signal);
  }

  /** Tracked, so that disposal waits for it. */
  function run(signal: AbortSignal): Promise<void> {
    const schedule = runSchedule(signal).finally(() => running.delete(schedule));
    running.add(schedule);
    return schedule;
  }

  async function runAll(domains: Iterable<string>, { onDone, signal }: { onDone: OnDone; signal: AbortSignal }) {
    const queue = domains[Symbol.iterator]();
    await work(async () => queue.next().value, onDone, signal);
  }

  return {
    scan,
    isScanning: (domain) => inProgress.has(domain),
    run,
    runAll,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.allSettled([...inProgress.values(), ...running]);
    },
  };
}

/** The outcome for metrics: a scan without observations of a tracked domain is recorded, but counts by its state. */
function metricOutcome(outcome: ScanOutcome): ScanOutcome['kind'] {
  if (outcome.kind !== 'recorded') return outcome.kind;
  const { state } = outcome.profile;
  return state === 'unmeasured' || state === 'nonexistent' ? state : 'recorded';
}
