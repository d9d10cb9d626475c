// What a recorded scan tells: the changes it confirmed, and the events that the index, the caches and the stream follow.
import {
  type Importance,
  type KnownService,
  type Profile,
  packHolders,
  packPosture,
  type Reconciliation,
  regressionsOf,
  type Sector,
  shortenPosture,
} from '@strata/detect';
import type { Selectable, Transaction } from 'kysely';
import { changeId, summaryOf } from './domains.ts';
import type { ChangeConfirmed, DomainChanged, PostureRegressed } from './events.ts';
import type { FeedService } from './index-feed.ts';
import type { Database } from './schema.ts';

type DomainRow = Selectable<Database['domains']>;

/** What the scan says besides its services, in the order of keys that makes equal summaries equal texts. */
export function toldOf(profile: Profile, domain: Pick<DomainRow, 'sector' | 'summary'>) {
  const { state, rulebook, security, roles, holders, sources, redirectsTo } = profile;
  const { sector, sectorSource } = sectorTold(profile, domain);
  return {
    state,
    sector,
    rulebook,
    posture_bits: packPosture(security),
    holder_bits: packHolders(holders),
    score: security.score,
    summary: JSON.stringify({ security: shortenPosture(security), roles, sources, redirectsTo, sectorSource }),
  };
}

/** A page that could not be had this time says nothing against what it said before. */
function sectorTold(
  { sector, sectorSource, sources }: Profile,
  before: Pick<DomainRow, 'sector' | 'summary'>,
): Pick<Profile, 'sector' | 'sectorSource'> {
  const isPageSeen = sources.html === 'observed' || sources.html === 'absent';
  if (sector !== 'unknown' || isPageSeen || before.sector === 'unknown' || before.summary === null)
    return { sector, sectorSource };
  const wasByPage = (JSON.parse(before.summary) as Partial<Profile>).sectorSource === 'page';
  return wasByPage ? { sector: before.sector as Sector, sectorSource: 'page' } : { sector, sectorSource };
}

export type Told = ReturnType<typeof toldOf>;

const WEIGHT: Readonly<Record<Importance, number>> = { low: 0, medium: 1, high: 2 };

interface ScanResult {
  readonly domain: DomainRow;
  readonly scanId: number;
  readonly result: Reconciliation;
  readonly known: readonly KnownService[];
}

/** In the order that a page, newest first, turns round: of changes made at once the most important comes first. */
export async function insertChanges(tx: Transaction<Database>, { domain, scanId, result, known }: ScanResult) {
  const written = [];
  const used = providersTold(known);
  const uses = providersTold(result.open);
  for (const change of result.changes.toSorted((a, b) => a.at - b.at || WEIGHT[a.importance] - WEIGHT[b.importance])) {
    const { confirmedAt: confirmed_at, from: from_provider, to: to_provider, ...same } = change;
    // A provider that comes or goes in two categories at once comes or goes once.
    const is_entry = Number(to_provider !== null && !used.has(to_provider));
    const is_exit = Number(from_provider !== null && used.has(from_provider) && !uses.has(from_provider));
    if (to_provider !== null) used.add(to_provider);
    if (is_exit && from_provider !== null) used.delete(from_provider);
    const row = { ...same, confirmed_at, from_provider, to_provider, is_entry, is_exit };
    const { id } = await tx
      .insertInto('changes')
      .values({ ...row, domain_id: domain.id, scan_id: scanId })
      .returning('id')
      .executeTakeFirstOrThrow();
    const told = { ...change, id: changeId(id) };
    const payload: ChangeConfirmed = { ...told, domainId: domain.id, isEntry: is_entry === 1, isExit: is_exit === 1 };
    await insertEvent(tx, 'change-confirmed', domain.name, confirmed_at, payload);
    written.push(told);
  }
  return written;
}

const isTold = ({ status }: KnownService): boolean => status !== 'pending';

const isShown = (service: KnownService): boolean => isTold(service) && service.version !== null;

function providersTold(services: readonly KnownService[]): Set<string> {
  return new Set(services.filter(isTold).map(({ provider }) => provider));
}

const buildOf = ({ provider, version, platform }: KnownService): string =>
  JSON.stringify([provider, version, platform]);

const feedService = ({ category, provider, confidence, version, platform }: KnownService): FeedService => [
  category,
  provider,
  confidence,
  version,
  platform,
];

/** Everything that the index keeps of a domain goes into the event, so that who follows need not read again. */
export async function tellDomain(
  tx: Transaction<Database>,
  domain: DomainRow,
  profile: Profile,
  scan: {
    readonly now: number;
    readonly isFirst: boolean;
    readonly told: Told;
    readonly known: readonly KnownService[];
    readonly open: readonly KnownService[];
  },
): Promise<void> {
  const { told, now } = scan;
  const before = scan.known.filter(isShown);
  const shown = new Set(before.map(buildOf));
  const showsMore = !scan.isFirst && scan.open.some((service) => isShown(service) && !shown.has(buildOf(service)));
  const payload: DomainChanged = {
    domainId: domain.id,
    isFirst: scan.isFirst,
    scannedAt: now,
    state: told.state,
    sector: told.sector,
    rulebook: told.rulebook,
    posture: told.posture_bits,
    holders: told.holder_bits,
    score: told.score,
    services: scan.open.filter(isTold).map(feedService),
    ...(showsMore ? { shownBefore: before.map(feedService) } : {}),
  };
  await insertEvent(tx, 'domain-changed', profile.domain, now, payload);
  if (domain.summary === null || domain.state === 'nonexistent' || profile.state === 'nonexistent') return;
  const regressions = regressionsOf(summaryOf(domain.summary).security, profile.security);
  if (regressions.length === 0) return;
  const regressed: PostureRegressed = { domainId: domain.id, regressions };
  await insertEvent(tx, 'posture-regressed', profile.domain, now, regressed);
}

async function insertEvent(
  tx: Transaction<Database>,
  kind: Database['events']['kind'],
  domain: string,
  at: number,
  payload: object,
): Promise<void> {
  await tx
    .insertInto('events')
    .values({ at, kind, domain, payload: JSON.stringify(payload) })
    .execute();
}
