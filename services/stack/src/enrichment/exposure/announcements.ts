// Publishes advisories: new or exploited ones of products in use, and domains that become exposed to exploited ones. Each is
// published once across restarts: an alert is stored before its event, and the store deduplicates events. After a crash all of them
// are processed again, and only missing ones are written.
import type { Entry } from '@strata/advisories';
import type { IndexedService } from '@strata/analytics';
import { StoreError } from '@strata/db';
import { exploitedAlert } from '../../alerts/alerts.ts';
import type { EventBus } from '../../events.ts';
import type { KnownDomains } from '../../index/known-domains.ts';
import type { KnownNames } from '../../index/known-names.ts';
import type { DomainChanged, Store, StoredEvent } from '../../store/index.ts';
import { EventLoopBudget } from '../event-loop-budget.ts';
import { type ByEvidence, countsOf, type ExposedDeps } from './exposed-domains.ts';
import type { Exposure, Exposures } from './exposures.ts';
import type { ObservedService } from './product-uses.ts';

/** What alerts are raised from. */
export interface AlertDeps extends ExposedDeps {
  readonly known: KnownDomains;
  readonly store: Store;
  readonly names: KnownNames;
  /** The clock of the history. */
  readonly now: () => Date;
  readonly events: EventBus;
}

const DAY_MS = 86_400_000;
/** An older advisory is not published as new, unless it is exploited. */
const NEWS_MS = 30 * DAY_MS;
/** Further domains within this time update the same alert. */
const QUIET_MS = 7 * DAY_MS;
/** A changed score does not raise the alert again, regardless of its age. */
const FOREVER_MS = 100_000 * DAY_MS;

/** After so many failures the remaining entries are left for the next call. */
const MAX_FAILURES = 20;

/** By id, why an advisory could not be published. */
export type AnnounceFailures = ReadonlyMap<string, unknown>;

export interface Announced {
  readonly failures: AnnounceFailures;
  /** Those that were not tried. */
  readonly left: readonly Entry[];
}

/**
 * Publishes changed advisories of products in use; exploited ones also raise an alert. Returns those that failed although
 * ClickHouse responds. Rejects if the term ended, or if ClickHouse or the store is away.
 */
export async function announceAdvisories(entries: readonly Entry[], deps: AlertDeps): Promise<Announced> {
  const newsSince = deps.now().getTime() - NEWS_MS;
  const budget = new EventLoopBudget();
  const failures = new Map<string, unknown>();
  for (const [at, entry] of entries.entries()) {
    if (failures.size === MAX_FAILURES) return { failures, left: entries.slice(at) };
    if (!entry.exploited && Date.parse(entry.advisory.published) < newsSince) continue;
    await budget.yieldIfSpent();
    const { error } = await alone(announce(entry, deps), deps);
    if (error !== undefined) failures.set(entry.advisory.id, error);
  }
  return { failures, left: [] };
}

/** The result, or the error of an advisory that fails alone. Rejects if the term ended, or if ClickHouse or the store is away. */
async function alone<T>(
  work: Promise<T>,
  { analytics }: Pick<AlertDeps, 'analytics'>,
): Promise<{ readonly value?: T; readonly error?: unknown }> {
  try {
    return { value: await work };
  } catch (error) {
    if (error instanceof StoreError) throw error;
    await analytics.asOf();
    return { error };
  }
}

async function announce(entry: Entry, deps: AlertDeps): Promise<void> {
  const counts = await countsOf(deps, entry);
  if (counts.version + counts.product === 0) return;
  if (entry.exploited) await raiseAlert({ entry, counts }, FOREVER_MS, deps);
  await publish({ entry, counts }, entry.exploited ? 'exploited' : 'published', deps);
}

/** The exploited advisories of a domain after a scan. */
export interface Reach {
  /** Exploited advisories that possibly affect it. */
  readonly touching: readonly Entry[];
  /** Those of them that affect the current services but not the previous ones. */
  readonly exposed: readonly Entry[];
}

/** Derived from the event alone, which includes the previous services: the result is the same after a restart. */
export function reachOf({ services, shownBefore }: DomainChanged, exposures: Exposures): Reach {
  const exploited = exposures.ofServices(services.map(observedService)).filter(({ entry }) => entry.exploited);
  const touching = [...new Set(exploited.map(({ entry }) => entry))];
  if (shownBefore === undefined) return { touching, exposed: [] };
  const before = affectedBy(exposures.ofServices(shownBefore.map(observedService)));
  return { touching, exposed: [...affectedBy(exploited)].filter((entry) => !before.has(entry)) };
}

const observedService = ([
  ,
  provider,
  confidence,
  version = null,
  platform = null,
]: IndexedService): ObservedService => ({
  provider,
  confidence,
  version,
  platform,
});

/**
 * Raises alerts for the exposures that scans found, once per advisory with the totals. Returns and rejects as `announceAdvisories`.
 */
export async function raiseReachAlerts(reach: readonly Reach[], deps: AlertDeps): Promise<AnnounceFailures> {
  const exposed = new Set(reach.flatMap((each) => each.exposed));
  const raise = async (entry: Entry) => {
    const counts = await countsOf(deps, entry);
    await raiseAlert({ entry, counts }, exposed.has(entry) ? QUIET_MS : FOREVER_MS, deps);
    await publish({ entry, counts }, 'exploited', deps);
  };
  const failures = new Map<string, unknown>();
  for (const entry of new Set(reach.flatMap(({ touching }) => touching))) {
    // After many failures the remaining ones are not tried here.
    const last = failures.size < MAX_FAILURES ? undefined : [...failures.values()].at(-1);
    const { error } = last === undefined ? await alone(raise(entry), deps) : { error: last };
    if (error !== undefined) failures.set(entry.advisory.id, error);
  }
  return failures;
}

/** Publishes a domain's new exposures; those of its first scan are not new. Figures that cannot be counted are left out. */
export async function announceDomain(
  { seq, domain, at }: Pick<StoredEvent, 'seq' | 'domain' | 'at'>,
  { domainId }: DomainChanged,
  { exposed }: Reach,
  deps: Pick<AlertDeps, 'store' | keyof ExposedDeps>,
): Promise<void> {
  if (exposed.length === 0) return;
  const advisoryIds = exposed.map(({ advisory }) => advisory.id);
  const counts = await Promise.all(
    exposed.map(async (entry) => {
      const { value } = await alone(countsOf(deps, entry), deps);
      return value ? [[entry.advisory.id, value] as const] : [];
    }),
  );
  await deps.store.advisories.addEvent(`exposed ${seq}`, {
    kind: 'domain-exposed',
    at,
    domain,
    payload: { domainId, advisoryIds, counts: Object.fromEntries(counts.flat()) },
  });
}

const affectedBy = (all: readonly Exposure[]): ReadonlySet<Entry> =>
  new Set(all.filter(({ isAffected }) => isAffected).map(({ entry }) => entry));

interface CountedEntry {
  readonly entry: Entry;
  readonly counts: ByEvidence<number>;
}

/** With the figures: the stream publishes them without asking ClickHouse, which may be away by then. */
async function publish(
  { entry, counts }: CountedEntry,
  reason: 'published' | 'exploited',
  { store, now }: AlertDeps,
): Promise<void> {
  const { id } = entry.advisory;
  await store.advisories.addEvent(`${reason} ${id}`, {
    kind: 'advisory-touched',
    at: now(),
    domain: '',
    payload: { advisoryId: id, reason, counts: { [id]: counts } },
  });
}

async function raiseAlert({ entry, counts }: CountedEntry, quietMs: number, deps: AlertDeps): Promise<void> {
  const { store, names, now, events } = deps;
  const isWritten = await store.signals.addAlert(exploitedAlert({ entry, counts, at: now(), names }), { quietMs });
  if (isWritten) events.publish('alert-stored');
}
