// The events of a planned scan for the index, the caches and the stream. Pure.
import type { IndexedService } from '@strata/analytics';
import {
  type KnownService,
  type NewChange,
  type Profile,
  regressionsOf,
  type ScanPlan,
  summaryOf,
} from '@strata/detect';
import type { Selectable } from 'kysely';
import type { ChangeConfirmed, DomainChanged, PostureRegressed } from '../events/stored-event.ts';
import type { Database } from '../schema.ts';
import type { DomainRow } from './scan-rows.ts';

/** An event whose payload lacks row numbers, which are assigned on write. */
export interface NewEvent extends Omit<Selectable<Database['events']>, 'seq'> {
  /** Index of the reported change among the changes of its scan. */
  readonly change?: number;
}

type WithoutNumbers<Payload> = Omit<Payload, 'domainId' | 'id'>;

/** The events of confirmed changes, in order. */
export function changeEvents(domain: string, changes: readonly NewChange[]): NewEvent[] {
  return changes.map(({ change, isEntry, isExit }, index) => {
    const payload: WithoutNumbers<ChangeConfirmed> = { ...change, isEntry, isExit };
    return { ...eventOf('change-confirmed', domain, change.confirmedAt, payload), change: index };
  });
}

const isPublished = ({ status }: KnownService): boolean => status !== 'pending';

const isShown = (service: KnownService): boolean => isPublished(service) && service.version !== null;

const buildOf = ({ provider, version, platform }: KnownService): string =>
  JSON.stringify([provider, version, platform]);

const feedService = ({ category, provider, confidence, version, platform }: KnownService): IndexedService => [
  category,
  provider,
  confidence,
  version,
  platform,
];

/** The event carries everything that the index keeps of a domain, so that consumers do not read the store again. */
export function differenceEvents(
  domain: Pick<DomainRow, 'summary' | 'state'>,
  { profile, observedAt, isFirst, difference }: ScanPlan,
): NewEvent[] {
  if (!difference) return [];
  const { published, known, open } = difference;
  const before = known.filter(isShown);
  const shown = new Set(before.map(buildOf));
  const showsMore = !isFirst && open.some((service) => isShown(service) && !shown.has(buildOf(service)));
  const payload: WithoutNumbers<DomainChanged> = {
    isFirst,
    scannedAt: observedAt,
    state: published.state,
    sector: published.sector,
    rulebook: published.rulebook,
    posture: published.postureBits,
    holders: published.holderBits,
    score: published.score,
    country: published.country,
    services: open.filter(isPublished).map(feedService),
    ...(showsMore ? { shownBefore: before.map(feedService) } : {}),
    ...(isFirst ? {} : scoreBefore(domain.summary, profile.security)),
  };
  const events = [eventOf('domain-changed', profile.domain, observedAt, payload)];
  if (domain.summary === null || domain.state === 'nonexistent' || profile.state === 'nonexistent') return events;
  const regressions = regressionsOf(summaryOf(domain.summary).security, profile.security);
  if (regressions.length === 0) return events;
  const regressed: WithoutNumbers<PostureRegressed> = { regressions };
  return [...events, eventOf('posture-regressed', profile.domain, observedAt, regressed)];
}

/** The previous score, if it differs and was computed by the same version. */
function scoreBefore(summary: string | null, { score, scoreVersion }: Profile['security']) {
  const before = summary === null ? undefined : summaryOf(summary).security;
  const isComparable = before !== undefined && before.scoreVersion === scoreVersion && before.score !== null;
  return isComparable && score !== null && before.score !== score ? { scoreBefore: before.score } : {};
}

function eventOf(kind: NewEvent['kind'], domain: string, at: number, payload: object): NewEvent {
  return { at, kind, domain, payload: JSON.stringify(payload) };
}
