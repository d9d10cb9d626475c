// Prometheus metrics of the service; docs/monitoring.md describes them.
import { type Span, SpanStatusCode, trace } from '@opentelemetry/api';
import { addWitnessMetrics, type KeyGate, type Metrics, type Notary } from '@strata/http';
import type { Prober } from '@strata/scan';
import type { StackApp } from '../context.ts';
import type { EventBus } from '../events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Store } from '../store/index.ts';

/** Minimum interval between counts in the database. */
const FIGURES_MS = 15_000;

export function addScanMetrics(metrics: Metrics, events: EventBus): void {
  const took = metrics.durations('strata_scan_seconds', 'Scans by outcome', {
    label: 'outcome',
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  events.subscribe('scan-ended', ({ outcome, ms }) => took(outcome, ms));
}

const tracer = trace.getTracer('strata-stack');

/** The notary with timing and tracing of signing and of the wait for a durable leaf. */
export function timedNotary(notary: Notary, metrics: Metrics): Notary {
  const took = metrics.durations('strata_ledger_sign_seconds', 'Receipts signed and durable in the ledger', {
    label: 'outcome',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5],
  });
  const run = async <T>(span: Span, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now();
    try {
      const done = await work();
      took('done', performance.now() - startedAt);
      return done;
    } catch (error) {
      took('failed', performance.now() - startedAt);
      span.setStatus({ code: SpanStatusCode.ERROR, message: (error as Error).name });
      throw error;
    } finally {
      span.end();
    }
  };
  const timed = <T>(work: () => Promise<T>) => tracer.startActiveSpan('ledger commit', (span) => run(span, work));
  return {
    sign: (body) => timed(() => notary.sign(body)),
    // Not timed: nearly always the stored body is returned.
    signOnce: (body) => notary.signOnce(body),
    signBytes: (bytes, contentType) => timed(() => notary.signBytes(bytes, contentType)),
  };
}

/** The keys of the store, with a counter of refusals. */
export function countedGate(
  { keys, quota }: Pick<Store, 'keys' | 'quota'>,
  metrics: Metrics,
): Omit<KeyGate, 'revision'> {
  let refused = 0;
  metrics.total('strata_quota_refusals_total', 'Requests refused because a quota was used up', () => refused);
  return {
    find: (presented) => keys.find(presented),
    stillValid: (ids) => keys.stillValid(ids),
    used: (keyId, day) => quota.used(keyId, day),
    async take(keyId, day, limit, requests) {
      const taken = await quota.take(keyId, day, limit, requests);
      if (!taken.isAllowed) refused += 1;
      return taken;
    },
  };
}

/** Metrics of an API node. */
export function addStackMetrics(
  metrics: Metrics,
  app: Pick<
    StackApp,
    'ledger' | 'prober' | 'known' | 'log' | 'hub' | 'exposures' | 'store' | 'clock' | 'now' | 'sourceNames'
  >,
  { cachedAnswers }: { readonly cachedAnswers: () => number },
): void {
  const { ledger, prober, known, log, hub, exposures, store, clock } = app;
  metrics.gauge('strata_ledger_leaves', 'Receipts in the ledger', () => ledger.log.size);
  metrics.total('strata_ledger_commits_total', 'Commits of the ledger', () => ledger.log.stats().commits);
  addLedgerRefusal(metrics, ledger);
  addWitnessMetrics(metrics, () => ledger.witnesses());
  addDnsMetrics(metrics, prober);
  metrics.gauge('strata_index_domains', 'Domains in the index', () => known.size);
  metrics.gauge('strata_stream_subscribers', 'Live subscribers of the event stream', () => hub.subscribers);
  metrics.gauge('strata_advisories', 'Advisories of products in the rulebook', () => exposures.advisories.size);
  metrics.gauge('strata_answers_cached', 'Answers in the cache', cachedAnswers);
  addStoreMetrics(metrics, { store, now: clock });
  const lag = sampled(async () => Math.max(0, (await store.events.latestSeq()) - log.position.seq));
  metrics.gauge('strata_event_lag', 'Events that this node has not applied', lag);
  const sources = sampled(() => store.sources.list(app.now()));
  metrics.gauges('strata_advisories_age_seconds', 'Time since the last complete sync of a source', 'source', async () =>
    (await sources()).flatMap(({ name, finishedAt }): [string, number][] =>
      finishedAt && app.sourceNames.includes(name)
        ? [[name, (app.now().getTime() - finishedAt.getTime()) / 1_000]]
        : [],
    ),
  );
}

/** Metrics of signing. An unreachable database is not a refusal: signing resumes when it returns. */
export function addLedgerRefusal(
  metrics: Metrics,
  { log, problem, retiredAt }: Pick<Ledger, 'problem' | 'retiredAt'> & { readonly log: Pick<Ledger['log'], 'stats'> },
): void {
  const help = 'Whether this node issues no receipts until it is repaired: 1 or 0';
  metrics.gauge('strata_ledger_refusing', help, () => (log.stats().refusal || problem() !== undefined ? 1 : 0));
  const retired = 'Whether this node signs with keys that another node retired: 1 or 0';
  metrics.gauge('strata_signing_keys_retired', retired, () => (retiredAt() === undefined ? 0 : 1));
}

/** Metrics of scanning. */
export function addDnsMetrics(metrics: Metrics, prober: Prober): void {
  metrics.gauge('strata_dns_questions', 'DNS questions, including cached ones', () => prober.stats().questions);
  metrics.gauge('strata_dns_timeouts', 'DNS tries that timed out', () => prober.stats().timeouts);
}

/** Database connections and the schedule; `now` is the clock of the history. */
export function addStoreMetrics(
  metrics: Metrics,
  { store, now }: { readonly store: Pick<Store, 'inspection'>; readonly now: () => Date },
): void {
  metrics.gauges('strata_database_connections', 'Database connections by state', 'state', () => {
    const { size, idle, waiting } = store.inspection.pool();
    return Object.entries({ idle, busy: size - idle, waited_for: waiting });
  });
  const sizes = sampled(() => store.inspection.sizes());
  metrics.gauges('strata_table_rows', 'Approximate rows of growing tables', 'table', async () =>
    (await sizes()).map(({ table, rows }): [string, number] => [table, rows]),
  );
  metrics.gauges('strata_table_bytes', 'Size of tables with their indexes; only on PostgreSQL', 'table', async () =>
    (await sizes()).flatMap(({ table, bytes }): [string, number][] => (bytes === null ? [] : [[table, bytes]])),
  );
  const figures = sampled(() => store.inspection.figures(now()));
  metrics.gauge(
    'strata_due_domains',
    'Domains that are due for a scan and that no process scans; at most 100,000 are counted',
    async () => (await figures()).due,
  );
  metrics.gauge('strata_leased_domains', 'Domains that a process scans', async () => (await figures()).leased);
  metrics.gauge(
    'strata_due_longest_seconds',
    'Longest time for which a previously scanned domain has been due',
    async () => (await figures()).longestDueMs / 1_000,
  );
}

/** Reads at most once in `FIGURES_MS`; failures are not cached. */
function sampled<T>(read: () => Promise<T>): () => Promise<T> {
  let sample: Promise<T> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (sample && performance.now() - readAt < FIGURES_MS) return sample;
    readAt = performance.now();
    sample = read();
    sample.catch(() => {
      sample = undefined;
    });
    return sample;
  };
}
