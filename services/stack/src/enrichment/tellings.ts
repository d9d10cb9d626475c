// What is told of advisories: one that touches domains and is new or exploited, and a domain that has come within reach of
// exploited ones. Each is told once, whatever happens in between.
import type { Entry } from '@strata/advisories';
import type { DomainIndex } from '@strata/analytics';
import type { DomainChanged, Store, StoredEvent } from '@strata/store';
import { exploitedAlert } from '../alerts.ts';
import type { KnownNames } from '../known-names.ts';
import type { Exposures } from './exposures.ts';
import { Turns } from './turns.ts';

export interface TellingParts {
  readonly store: Store;
  readonly index: DomainIndex;
  readonly exposures: Exposures;
  readonly names: KnownNames;
  /** The clock that history goes by. */
  readonly now: () => Date;
}

const DAY_MS = 86_400_000;
/** An advisory published longer ago is no news, unless it is exploited. */
const NEWS_MS = 30 * DAY_MS;
/** An alert on the same advisory sooner than this is the same alert, with its latest figures. */
const QUIET_MS = 7 * DAY_MS;

/** Advisories that have changed: those that touch domains are told, and alerted to where they are exploited. */
export async function tellAdvisories(entries: readonly Entry[], parts: TellingParts): Promise<void> {
  const now = parts.now().getTime();
  const turns = new Turns();
  for (const entry of entries) {
    const isNew = now - Date.parse(entry.advisory.published) <= NEWS_MS;
    if (!entry.exploited && !isNew) continue;
    const counts = parts.exposures.countsOf(entry);
    await turns.share();
    if (counts.version + counts.product === 0) continue;
    await tell(entry, entry.exploited ? 'exploited' : 'published', parts);
    if (entry.exploited) await alertTo(entry, parts);
  }
}

/**
 * A scan has shown versions that the domain did not show before: exploited advisories that affect them are alerted to with
 * their new figures, and told of the domain where it is not its first scan.
 */
export async function tellDomain(
  { domain, at }: Pick<StoredEvent, 'domain' | 'at'>,
  { domainId, isFirst, newlyShown = [] }: DomainChanged,
  parts: TellingParts,
): Promise<void> {
  const shown = newlyShown.map(([, provider, confidence, version = null, platform = null]) => {
    return { provider, confidence, version, platform };
  });
  const exposed = parts.exposures.ofServices(shown).filter(({ entry, isAffected }) => isAffected && entry.exploited);
  if (exposed.length === 0) return;
  const entries = [...new Set(exposed.map(({ entry }) => entry))];
  for (const entry of entries) await alertTo(entry, parts);
  if (isFirst) return;
  const advisoryIds = entries.map(({ advisory }) => advisory.id);
  const builds = shown.map(({ provider, version, platform }) => [provider, version, platform]);
  await parts.store.advisories.tell(`exposed ${domain} ${JSON.stringify([at, builds])}`, {
    kind: 'domain-exposed',
    at,
    domain,
    payload: { domainId, advisoryIds },
  });
}

async function tell(entry: Entry, reason: 'published' | 'exploited', { store, now }: TellingParts): Promise<void> {
  const { id } = entry.advisory;
  await store.advisories.tell(`${reason} ${id}`, {
    kind: 'advisory-touched',
    at: now(),
    domain: '',
    payload: { advisoryId: id, reason },
  });
}

async function alertTo(entry: Entry, { store, exposures, names, now }: TellingParts): Promise<void> {
  const counts = exposures.countsOf(entry);
  await store.signals.addAlert(exploitedAlert({ entry, counts, at: now(), names }), { quietMs: QUIET_MS });
}
