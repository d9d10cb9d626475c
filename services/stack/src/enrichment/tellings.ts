// What is told of advisories: one that touches domains and is new or exploited, and a domain that has come within reach of
// exploited ones. Each is told once, whatever happens in between: alerts stand before the event that tells of them, and the
// store knows what was told. After a kill all of it is gone through again, and only what is missing is written.
import type { Entry } from '@strata/advisories';
import type { DomainIndex } from '@strata/analytics';
import type { Store } from '@strata/store';
import { exploitedAlert } from '../alerts.ts';
import type { KnownNames } from '../known-names.ts';
import type { Exposure, Exposures } from './exposures.ts';

export interface TellingParts {
  readonly store: Store;
  readonly index: DomainIndex;
  readonly exposures: Exposures;
  readonly names: KnownNames;
  /** The clock that history goes by. */
  readonly now: () => Date;
  /** Called when an alert was written. */
  readonly onAlert: () => void;
}

/** A domain that a scan has shown otherwise than before. */
export interface ShownDomain {
  readonly domain: string;
  readonly domainId: number;
  /** Of the event that tells of it. */
  readonly seq: number;
  readonly at: Date;
  readonly isFirst: boolean;
}

const DAY_MS = 86_400_000;
/** An advisory published longer ago is no news, unless it is exploited. */
const NEWS_MS = 30 * DAY_MS;
/** Another domain within reach sooner than this belongs to the same alert, with its latest figures. */
const QUIET_MS = 7 * DAY_MS;
/** A score that moves is no reason to raise an alert again, however old. */
const FOREVER_MS = 100_000 * DAY_MS;

/** Advisories that have changed: those that touch domains are told, and alerted to where they are exploited. */
export async function tellAdvisories(entries: readonly Entry[], parts: TellingParts): Promise<void> {
  const newsSince = parts.now().getTime() - NEWS_MS;
  for (const entry of entries) {
    if (!entry.exploited && Date.parse(entry.advisory.published) < newsSince) continue;
    const { version, product } = parts.exposures.domainsOf(entry);
    if (version.size + product.size === 0) continue;
    if (entry.exploited) await alertTo(entry, FOREVER_MS, parts);
    await tell(entry, entry.exploited ? 'exploited' : 'published', parts);
  }
}

/** What a scan has brought within reach of a domain, and out of it. */
export interface Reach {
  /** Exploited advisories that concern it. */
  readonly touching: readonly Entry[];
  /** Of these, those that affect what it shows now and did not affect what it showed before. */
  readonly exposed: readonly Entry[];
}

export function reachOf({ domainId, seq }: Pick<ShownDomain, 'domainId' | 'seq'>, exposures: Exposures): Reach {
  const exploited = exposures.ofDomain(domainId).filter(({ entry }) => entry.exploited);
  // Where it is forgotten what was shown before, rather tell of what is no news than keep silent of what is.
  const before = affectedBy(exposures.before(seq) ?? []);
  return {
    touching: [...new Set(exploited.map(({ entry }) => entry))],
    exposed: [...affectedBy(exploited)].filter((entry) => !before.has(entry)),
  };
}

/** Alerts to what scans have brought within reach of domains, each advisory once with the figures of all. */
export async function alertToReach(reach: readonly Reach[], parts: TellingParts): Promise<void> {
  const exposed = new Set(reach.flatMap((each) => each.exposed));
  for (const entry of new Set(reach.flatMap(({ touching }) => touching))) {
    await alertTo(entry, exposed.has(entry) ? QUIET_MS : FOREVER_MS, parts);
    await tell(entry, 'exploited', parts);
  }
}

/** Tells of what a domain has newly come within reach of; its first scan finds it as it was all along, and is no news of it. */
export async function tellDomain(
  { domain, domainId, at, isFirst }: ShownDomain,
  { exposed }: Reach,
  { store }: Pick<TellingParts, 'store'>,
): Promise<void> {
  if (isFirst) return;
  for (const { advisory } of exposed) {
    await store.advisories.tell(`exposed ${domain} ${advisory.id}`, {
      kind: 'domain-exposed',
      at,
      domain,
      payload: { domainId, advisoryIds: [advisory.id] },
    });
  }
}

const affectedBy = (all: readonly Exposure[]): ReadonlySet<Entry> =>
  new Set(all.filter(({ isAffected }) => isAffected).map(({ entry }) => entry));

async function tell(entry: Entry, reason: 'published' | 'exploited', { store, now }: TellingParts): Promise<void> {
  const { id } = entry.advisory;
  await store.advisories.tell(`${reason} ${id}`, {
    kind: 'advisory-touched',
    at: now(),
    domain: '',
    payload: { advisoryId: id, reason },
  });
}

async function alertTo(entry: Entry, quietMs: number, parts: TellingParts): Promise<void> {
  const { store, exposures, names, now, onAlert } = parts;
  const { version, product } = exposures.domainsOf(entry);
  const counts = { version: version.size, product: product.size };
  const isWritten = await store.signals.addAlert(exploitedAlert({ entry, counts, at: now(), names }), { quietMs });
  if (isWritten) onAlert();
}
