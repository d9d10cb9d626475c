// The changes that a scan confirms, and the events for the index, the caches and the stream. Pure.
import {
  type Importance,
  type KnownService,
  type Profile,
  packHolders,
  packPosture,
  type Reconciliation,
  regressionsOf,
  type Sector,
  type ServiceChange,
  shortenPosture,
} from '@strata/detect';
import type { Selectable } from 'kysely';
import { summaryOf } from '../domains/domains.ts';
import type { ChangeConfirmed, DomainChanged, FeedService, PostureRegressed } from '../events/events.ts';
import type { Database } from '../schema.ts';

type DomainRow = Selectable<Database['domains']>;

/** The published state other than services. The summary has a fixed key order, so that equal summaries are equal texts. */
export function publishedStateOf(profile: Profile, domain: Pick<DomainRow, 'sector' | 'summary'>) {
  const { state, rulebook, security, roles, holders, sources, redirectsTo } = profile;
  const { sector, sectorSource } = publishedSector(profile, domain);
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

/** If the page could not be fetched, a sector that it determined before is kept. */
function publishedSector(
  { sector, sectorSource, sources }: Profile,
  before: Pick<DomainRow, 'sector' | 'summary'>,
): Pick<Profile, 'sector' | 'sectorSource'> {
  const isPageObserved = sources.html === 'observed' || sources.html === 'absent';
  if (sector !== 'unknown' || isPageObserved || before.sector === 'unknown' || before.summary === null)
    return { sector, sectorSource };
  const wasByPage = (JSON.parse(before.summary) as Partial<Profile>).sectorSource === 'page';
  return wasByPage ? { sector: before.sector as Sector, sectorSource: 'page' } : { sector, sectorSource };
}

export type PublishedState = ReturnType<typeof publishedStateOf>;

const WEIGHT: Readonly<Record<Importance, number>> = { low: 0, medium: 1, high: 2 };

/** A change as a row that has no number yet. */
export interface NewChange {
  readonly change: ServiceChange;
  /** 1: the domain did not use `to` before, in any category; and no longer uses `from` in any category. */
  readonly is_entry: number;
  readonly is_exit: number;
}

/** The reverse of the page order, which is newest first: of changes at the same time the most important comes last. */
export function newChanges(result: Reconciliation, known: readonly KnownService[]): NewChange[] {
  const used = publishedProviders(known);
  const uses = publishedProviders(result.open);
  return result.changes
    .toSorted((a, b) => a.at - b.at || WEIGHT[a.importance] - WEIGHT[b.importance])
    .map((change) => {
      const { from, to } = change;
      // A provider that is added or removed in several categories counts once.
      const is_entry = Number(to !== null && !used.has(to));
      const is_exit = Number(from !== null && used.has(from) && !uses.has(from));
      if (to !== null) used.add(to);
      if (is_exit && from !== null) used.delete(from);
      return { change, is_entry, is_exit };
    });
}

/** An event whose payload lacks row numbers, which are assigned on write. */
export interface NewEvent extends Omit<Selectable<Database['events']>, 'seq'> {
  /** Index of the reported change among the changes of its scan. */
  readonly change?: number;
}

type WithoutNumbers<Payload> = Omit<Payload, 'domainId' | 'id'>;

/** The events of confirmed changes, in order. */
export function changeEvents(domain: string, changes: readonly NewChange[]): NewEvent[] {
  return changes.map(({ change, is_entry, is_exit }, index) => {
    const isEntry = is_entry === 1;
    const payload: WithoutNumbers<ChangeConfirmed> = { ...change, isEntry, isExit: is_exit === 1 };
    return { ...eventOf('change-confirmed', domain, change.confirmedAt, payload), change: index };
  });
}

const isPublished = ({ status }: KnownService): boolean => status !== 'pending';

const isShown = (service: KnownService): boolean => isPublished(service) && service.version !== null;

function publishedProviders(services: readonly KnownService[]): Set<string> {
  return new Set(services.filter(isPublished).map(({ provider }) => provider));
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

/** The old and the new published state of a domain. */
export interface Difference {
  readonly profile: Profile;
  readonly now: number;
  readonly isFirst: boolean;
  readonly published: PublishedState;
  readonly known: readonly KnownService[];
  readonly open: readonly KnownService[];
}

/** The event carries everything that the index keeps of a domain, so that consumers do not read the store again. */
export function differenceEvents(
  domain: Pick<DomainRow, 'summary' | 'state'>,
  { profile, now, isFirst, published, known, open }: Difference,
): NewEvent[] {
  const before = known.filter(isShown);
  const shown = new Set(before.map(buildOf));
  const showsMore = !isFirst && open.some((service) => isShown(service) && !shown.has(buildOf(service)));
  const payload: WithoutNumbers<DomainChanged> = {
    isFirst,
    scannedAt: now,
    state: published.state,
    sector: published.sector,
    rulebook: published.rulebook,
    posture: published.posture_bits,
    holders: published.holder_bits,
    score: published.score,
    services: open.filter(isPublished).map(feedService),
    ...(showsMore ? { shownBefore: before.map(feedService) } : {}),
  };
  const events = [eventOf('domain-changed', profile.domain, now, payload)];
  if (domain.summary === null || domain.state === 'nonexistent' || profile.state === 'nonexistent') return events;
  const regressions = regressionsOf(summaryOf(domain.summary).security, profile.security);
  if (regressions.length === 0) return events;
  const regressed: WithoutNumbers<PostureRegressed> = { regressions };
  return [...events, eventOf('posture-regressed', profile.domain, now, regressed)];
}

function eventOf(kind: NewEvent['kind'], domain: string, at: number, payload: object): NewEvent {
  return { at, kind, domain, payload: JSON.stringify(payload) };
}
