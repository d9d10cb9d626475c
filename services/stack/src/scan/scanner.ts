// Decides when a domain is scanned: the schedule (what is due, in the background) and on demand (while a request waits).
import { context, trace } from '@opentelemetry/api';
import { detect, type Evidence, type Profile, type Rulebook } from '@strata/detect';
import type { Prober } from '@strata/scan';
import type { RecordedScan, Store } from '@strata/store';
import type { Logger } from 'pino';
import { ScanClaims } from './scan-claims.ts';
import { ScanRecorder } from './scan-recorder.ts';

/** How one scan of a domain ended. `failed` is our own trouble (the database), already logged. */
export type ScanOutcome =
  | { readonly kind: 'recorded'; readonly profile: Profile; readonly recorded: RecordedScan }
  | { readonly kind: 'nonexistent' }
  /** Nothing could be resolved, and nothing was known before. */
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
  /** Whether names that surely exist can be resolved. */
  readonly isDnsWorking: () => Promise<boolean>;
  /** Called after each recorded scan, before its outcome is given out: what answers about the domain are now stale. */
  readonly onRecorded: (profile: Profile, recorded: RecordedScan) => void;
  /** Hears of each scan, how it ended and how long it took in milliseconds. */
  readonly onScanned?: ((kind: ScanOutcome['kind'], ms: number) => void) | undefined;
}

export interface ScannerOptions {
  readonly confirmAfterMs: number;
  /** Probes of the schedule that run at once. On-demand scans come on top, at most `onDemandConcurrency`. */
  readonly concurrency: number;
  readonly onDemandConcurrency: number;
  readonly isOptedOut: (domain: string) => boolean;
  /** How long domains of the schedule are this process's without a sign of life; two minutes by default. */
  readonly leaseMs?: number;
}

export interface Scanner extends AsyncDisposable {
  /** Scans now, sharing a scan of the same domain that is already under way. Undefined when there is no room. */
  scan(domain: string): Promise<ScanOutcome> | undefined;
  /** Whether a scan of the domain is under way. */
  isScanning(domain: string): boolean;
  /**
   * Works off what is due until `signal` aborts, beside other processes on the same store; returns when the last probe has ended and
   * what was not begun is given back.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Scans these domains and ends; `onDone` is called after each. */
  runAll(domains: Iterable<string>, options: { readonly onDone: OnDone; readonly signal: AbortSignal }): Promise<void>;
}

const tracer = trace.getTracer('strata-stack');

/** A probe takes seconds, most of a minute at the worst. */
const LEASE_MS = 120_000;

export function createScanner(deps: ScannerDeps, options: ScannerOptions): Scanner {
  const { store, prober, rulebook, logger, now } = deps;
  const underWay = new Map<string, Promise<ScanOutcome>>();
  /** Domains for which a request waits. */
  const awaited = new Set<string>();
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let onDemand = 0;

  const redetect = (evidence: Evidence) => detect(evidence, rulebook);
  const recorder = new ScanRecorder(store, { confirmAfterMs: options.confirmAfterMs, redetect });

  /** A resolver that knows no name at all says of every domain that it does not exist; that is our trouble, not theirs. */
  async function believed(profile: Profile): Promise<Profile> {
    if (profile.state !== 'nonexistent' || (await deps.isDnsWorking())) return profile;
    return { ...profile, state: 'unmeasured', services: [] };
  }

  async function scanOnce(domain: string): Promise<ScanOutcome> {
    if (options.isOptedOut(domain)) return { kind: 'opted-out' };
    try {
      const startedAt = now();
      const evidence = await prober.probe(domain, { signal: stopping.signal });
      const profile = await believed(detect(evidence, rulebook));
      // A name that nobody put on the list and that shows nothing leaves no trace; one that we knew and that is gone is history.
      if ((profile.state === 'nonexistent' || profile.state === 'unmeasured') && !(await store.isTracked(domain))) {
        return { kind: profile.state };
      }
      const scan = { profile, evidence, startedAt, finishedAt: now() };
      const recorded = await recorder.record(scan, { isAwaited: awaited.has(domain) });
      deps.onRecorded(profile, recorded);
      return { kind: 'recorded', profile, recorded };
    } catch (error) {
      if (!stopping.signal.aborted) logger.error({ err: error, domain }, 'scan failed');
      return { kind: 'failed' };
    }
  }

  function share(domain: string): Promise<ScanOutcome> {
    const running = underWay.get(domain);
    if (running) return running;
    const startedAt = performance.now();
    const span = tracer.startSpan('scan', { attributes: { 'strata.domain': domain } });
    const started = context
      .with(trace.setSpan(context.active(), span), () => scanOnce(domain))
      .then((outcome) => {
        const ended = endOf(outcome);
        deps.onScanned?.(ended, performance.now() - startedAt);
        span.setAttribute('strata.outcome', ended).end();
        return outcome;
      })
      .finally(() => {
        underWay.delete(domain);
        awaited.delete(domain);
      });
    underWay.set(domain, started);
    return started;
  }

  function scan(domain: string): Promise<ScanOutcome> | undefined {
    const running = underWay.get(domain);
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
      // Else it would be due for ever, and first.
      if (outcome.kind === 'opted-out') claims.putOff(domain);
      else claims.end(domain);
    };
    await work(() => claims.take(signal), onDone, signal);
  }

  /** Kept, so that whoever disposes of the scanner waits for it too. */
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
    isScanning: (domain) => underWay.has(domain),
    run,
    runAll,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.allSettled([...underWay.values(), ...running]);
    },
  };
}

/** What it was worth to whoever watches over scans: one that saw nothing of a domain that we follow is recorded, and still saw nothing. */
function endOf(outcome: ScanOutcome): ScanOutcome['kind'] {
  if (outcome.kind !== 'recorded') return outcome.kind;
  const { state } = outcome.profile;
  return state === 'unmeasured' || state === 'nonexistent' ? state : 'recorded';
}
