// The published state of a domain other than its services, and whether two states differ.
import { packHolders } from '../judge/holders.ts';
import { packPosture } from '../posture/posture-flags.ts';
import { restorePosture, type StoredPosture, shortenPosture } from '../posture/stored-posture.ts';
import { byRole, type DomainState, type Profile } from '../profile.ts';
import type { Sector } from '../sector/sector-types.ts';
import { type KnownService, keyOf } from './known-service.ts';
import { type LastMeasured, type StaleValues, withLastMeasured } from './last-measured.ts';

export interface PublishedState {
  readonly state: DomainState;
  readonly sector: string;
  readonly rulebook: string;
  /** `packPosture` and `packHolders`. */
  readonly postureBits: number;
  readonly holderBits: number;
  readonly score: number | null;
  readonly country: string | null;
  /** JSON with a fixed key order, so that equal summaries are equal texts. */
  readonly summary: string;
}

/** The state that an earlier scan published; nulls if there was none. */
export type PublishedBefore = Pick<PublishedState, 'sector' | 'postureBits' | 'holderBits' | 'country'> & {
  readonly state: DomainState | null;
  readonly summary: string | null;
  readonly lastScannedAt: number | null;
};

/** The results of a scan other than its services. */
export interface ProfileSummary
  extends Pick<Profile, 'security' | 'roles' | 'sources' | 'redirectsTo' | 'sectorSource'> {
  /** Absent if everything that was ever measured is of this scan. */
  readonly stale?: StaleValues;
}

export function summaryOf(text: string): ProfileSummary {
  const { security, ...summary } = JSON.parse(text) as Omit<ProfileSummary, 'security'> & { security: StoredPosture };
  // A summary of an earlier version lacks the roles that it did not know.
  const roles = byRole((role) => summary.roles[role] ?? 'unmeasured');
  return { ...summary, roles, security: restorePosture(security) };
}

/** `previous`: the result of the scan before under the present rulebook; the published one by default. */
export function publishedStateOf(scanned: Profile, before: PublishedBefore, previous?: Profile): PublishedState {
  const { profile, stale } = withLastMeasured(scanned, () => lastMeasured(before, previous));
  const { state, rulebook, security, roles, holders, sources, redirectsTo } = profile;
  const { sector, sectorSource } = publishedSector(profile, before);
  return {
    state,
    sector,
    rulebook,
    postureBits: packPosture(security),
    holderBits: packHolders(holders),
    score: security.score,
    // A look-up of the network that failed hides no country.
    country: profile.country ?? (sources.asn === 'unmeasured' ? before.country : null),
    summary: JSON.stringify({ security: shortenPosture(security), roles, sources, redirectsTo, sectorSource, stale }),
  };
}

function lastMeasured(before: PublishedBefore, previous: Profile | undefined): LastMeasured | undefined {
  if (previous) return { ...previous, holderBits: packHolders(previous.holders) };
  const { state, summary, holderBits, lastScannedAt } = before;
  if (state === null || summary === null || lastScannedAt === null) return undefined;
  return { ...summaryOf(summary), state, holderBits, observedAt: new Date(lastScannedAt).toISOString() };
}

/** If the page could not be fetched, a sector that it determined before is kept. */
function publishedSector(
  { sector, sectorSource, sources }: Profile,
  before: Pick<PublishedBefore, 'sector' | 'summary'>,
): Pick<Profile, 'sector' | 'sectorSource'> {
  const isPageObserved = sources.html === 'observed' || sources.html === 'absent';
  if (sector !== 'unknown' || isPageObserved || before.sector === 'unknown' || before.summary === null)
    return { sector, sectorSource };
  const wasByPage = (JSON.parse(before.summary) as Partial<Profile>).sectorSource === 'page';
  return wasByPage ? { sector: before.sector as Sector, sectorSource: 'page' } : { sector, sectorSource };
}

export function differs(before: PublishedBefore, published: PublishedState): boolean {
  return (
    before.summary !== published.summary ||
    before.state !== published.state ||
    before.sector !== published.sector ||
    before.country !== published.country ||
    before.postureBits !== published.postureBits ||
    before.holderBits !== published.holderBits
  );
}

/** The published part of the services, as text: pending services are excluded, and a first miss changes nothing. */
export function publishedServices(services: readonly KnownService[]): string {
  const published = services.filter((service) => service.status !== 'pending');
  return JSON.stringify(
    published.map((s) => [keyOf(s), s.confidence, s.score, s.evidence, s.version, s.platform]).sort(),
  );
}
