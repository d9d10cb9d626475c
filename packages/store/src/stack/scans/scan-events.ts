// What a recorded scan tells: the changes it confirmed, and the events that the index, the caches and the stream follow. Pure.
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
import type { Database } from '../../schema.ts';
import { summaryOf } from '../domains/domains.ts';
import type { ChangeConfirmed, DomainChanged, FeedService, PostureRegressed } from '../events/events.ts';

type DomainRow = Selectable<Database['domains']>;

/** What the scan says besides its services, in the order of keys that makes equal summaries equal texts. */
export function publishedStateOf(profile: Profile, domain: Pick<DomainRow, 'sector' | 'summary'>) {
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

export type PublishedState = ReturnType<typeof publishedStateOf>;

const WEIGHT: Readonly<Record<Importance, number>> = { low: 0, medium: 1, high: 2 };

/** A change as a row that has no number yet, with what it says. */
export interface NewChange {
  readonly change: ServiceChange;
  /** 1: with it the domain begins to use `to` at all; and stops using `from` altogether. */
  readonly is_entry: number;
  readonly is_exit: number;
}

/** In the order that a page, newest first, turns round: of changes made at once the most important comes first. */
export function newChanges(result: Reconciliation, known: readonly KnownService[]): NewChange[] {
  const used = providersTold(known);
  const uses = providersTold(result.open);
  return result.changes
    .toSorted((a, b) => a.at - b.at || WEIGHT[a.importance] - WEIGHT[b.importance])
    .map((change) => {
      const { from, to } = change;
      // A provider that comes or goes in two categories at once comes or goes once.
      const is_entry = Number(to !== null && !used.has(to));
      const is_exit = Number(from !== null && used.has(from) && !uses.has(from));
      if (to !== null) used.add(to);
      if (is_exit && from !== null) used.delete(from);
      return { change, is_entry, is_exit };
    });
}

/** An event whose payload lacks the numbers that rows get when they are written. */
export interface NewEvent extends Omit<Selectable<Database['events']>, 'seq'> {
  /** The place of the change that it reports among those of its scan. */
  readonly change?: number;
}

type WithoutNumbers<Payload> = Omit<Payload, 'domainId' | 'id'>;

/** The events of confirmed changes, in their order. */
export function changeEvents(domain: string, changes: readonly NewChange[]): NewEvent[] {
  return changes.map(({ change, is_entry, is_exit }, place) => {
    const isEntry = is_entry === 1;
    const payload: WithoutNumbers<ChangeConfirmed> = { ...change, isEntry, isExit: is_exit === 1 };
    return { ...eventOf('change-confirmed', domain, change.confirmedAt, payload), change: place };
  });
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

/** What differs in what is told of a domain. */
export interface Difference {
  readonly profile: Profile;
  readonly now: number;
  readonly isFirst: boolean;
  readonly told: PublishedState;
  readonly known: readonly KnownService[];
  readonly open: readonly KnownService[];
}

/** Everything that the index keeps of a domain goes into the event, so that who follows need not read again. */
export function differenceEvents(
  domain: Pick<DomainRow, 'summary' | 'state'>,
  { profile, now, isFirst, told, known, open }: Difference,
): NewEvent[] {
  const before = known.filter(isShown);
  const shown = new Set(before.map(buildOf));
  const showsMore = !isFirst && open.some((service) => isShown(service) && !shown.has(buildOf(service)));
  const payload: WithoutNumbers<DomainChanged> = {
    isFirst,
    scannedAt: now,
    state: told.state,
    sector: told.sector,
    rulebook: told.rulebook,
    posture: told.posture_bits,
    holders: told.holder_bits,
    score: told.score,
    services: open.filter(isTold).map(feedService),
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
