// What is told of advisories: one that touches domains and is new or exploited, and a domain that has come within reach of
// exploited ones. Each is told once, whatever happens in between: alerts stand before the event that tells of them, and the
// store knows what was told. After a kill all of it is gone through again, and only what is missing is written.
import type { Entry } from '@strata/advisories';
import type { DomainIndex } from '@strata/analytics';
import type { DomainChanged, FeedService, Store, StoredEvent } from '@strata/store';
import { exploitedAlert } from '../../alerts/alerts.ts';
import type { KnownNames } from '../../index/known-names.ts';
import { EventLoopBudget } from '../event-loop-budget.ts';
import type { Exposure, Exposures } from './exposures.ts';
import type { SeenService } from './product-uses.ts';

export interface AnnouncementDeps {
  readonly store: Store;
  readonly index: DomainIndex;
  readonly exposures: Exposures;
  readonly names: KnownNames;
  /** The clock that history goes by. */
  readonly now: () => Date;
  /** Called when an alert was written. */
  readonly onAlert: () => void;
}

const DAY_MS = 86_400_000;
/** An advisory published longer ago is no news, unless it is exploited. */
const NEWS_MS = 30 * DAY_MS;
/** Another domain within reach sooner than this belongs to the same alert, with its latest figures. */
const QUIET_MS = 7 * DAY_MS;
/** A score that moves is no reason to raise an alert again, however old. */
const FOREVER_MS = 100_000 * DAY_MS;

/** Advisories that have changed: those that touch domains are told, and alerted to where they are exploited. */
export async function announceAdvisories(entries: readonly Entry[], deps: AnnouncementDeps): Promise<void> {
  const newsSince = deps.now().getTime() - NEWS_MS;
  const budget = new EventLoopBudget();
  for (const entry of entries) {
    if (!entry.exploited && Date.parse(entry.advisory.published) < newsSince) continue;
    await budget.yieldIfSpent();
    const { version, product } = deps.exposures.countsOf(entry);
    if (version + product === 0) continue;
    if (entry.exploited) await alertTo(entry, FOREVER_MS, deps);
    await tell(entry, entry.exploited ? 'exploited' : 'published', deps);
  }
}

/** What a scan has brought within reach of a domain, and out of it. */
export interface Reach {
  /** Exploited advisories that concern it. */
  readonly touching: readonly Entry[];
  /** Of these, those that affect what it shows now and did not affect what it showed before. */
  readonly exposed: readonly Entry[];
}

/** From the event alone, which says what was shown before: a restart between the two finds the same. */
export function reachOf({ services, shownBefore }: DomainChanged, exposures: Exposures): Reach {
  const exploited = exposures.ofServices(services.map(seenService)).filter(({ entry }) => entry.exploited);
  const touching = [...new Set(exploited.map(({ entry }) => entry))];
  if (shownBefore === undefined) return { touching, exposed: [] };
  const before = affectedBy(exposures.ofServices(shownBefore.map(seenService)));
  return { touching, exposed: [...affectedBy(exploited)].filter((entry) => !before.has(entry)) };
}

const seenService = ([, provider, confidence, version = null, platform = null]: FeedService): SeenService => ({
  provider,
  confidence,
  version,
  platform,
});

/** Alerts to what scans have brought within reach of domains, each advisory once with the figures of all. */
export async function alertToReach(reach: readonly Reach[], deps: AnnouncementDeps): Promise<void> {
  const exposed = new Set(reach.flatMap((each) => each.exposed));
  for (const entry of new Set(reach.flatMap(({ touching }) => touching))) {
    await alertTo(entry, exposed.has(entry) ? QUIET_MS : FOREVER_MS, deps);
    await tell(entry, 'exploited', deps);
  }
}

/** Tells of what a domain has newly come within reach of; its first scan finds it as it was all along, and is no news of it. */
export async function announceDomain(
  { seq, domain, at }: Pick<StoredEvent, 'seq' | 'domain' | 'at'>,
  { domainId }: DomainChanged,
  { exposed }: Reach,
  { store }: Pick<AnnouncementDeps, 'store'>,
): Promise<void> {
  if (exposed.length === 0) return;
  const advisoryIds = exposed.map(({ advisory }) => advisory.id);
  await store.advisories.tell(`exposed ${seq}`, {
    kind: 'domain-exposed',
    at,
    domain,
    payload: { domainId, advisoryIds },
  });
}

const affectedBy = (all: readonly Exposure[]): ReadonlySet<Entry> =>
  new Set(all.filter(({ isAffected }) => isAffected).map(({ entry }) => entry));

async function tell(entry: Entry, reason: 'published' | 'exploited', { store, now }: AnnouncementDeps): Promise<void> {
  const { id } = entry.advisory;
  await store.advisories.tell(`${reason} ${id}`, {
    kind: 'advisory-touched',
    at: now(),
    domain: '',
    payload: { advisoryId: id, reason },
  });
}

async function alertTo(entry: Entry, quietMs: number, deps: AnnouncementDeps): Promise<void> {
  const { store, exposures, names, now, onAlert } = deps;
  const counts = exposures.countsOf(entry);
  const isWritten = await store.signals.addAlert(exploitedAlert({ entry, counts, at: now(), names }), { quietMs });
  if (isWritten) onAlert();
}
