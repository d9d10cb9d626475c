// Changes of a domain's services: arrivals and departures, paired into migrations.
import { type Category, type ConfidenceLevel, EXCLUSIVE_ROLES, ROLE_FACTS, type Role } from '../profile.ts';
import type { KnownService } from './known-service.ts';

export type ChangeType = 'added' | 'removed' | 'migrated' | 'reclassified';
export type Importance = 'high' | 'medium' | 'low';

export interface ServiceChange {
  /** When it was first observed; `confirmedAt` is the time of the confirming observation. */
  readonly at: number;
  readonly confirmedAt: number;
  readonly category: Category;
  readonly role: Role;
  readonly type: ChangeType;
  readonly from: string | null;
  readonly to: string | null;
  readonly confidence: ConfidenceLevel;
  readonly importance: Importance;
}

/** A service that began or ended, and when. */
export interface Movement {
  readonly service: KnownService;
  readonly at: number;
}

export function changesOf(
  arrivals: readonly Movement[],
  departures: readonly Movement[],
  now: number,
): ServiceChange[] {
  return pairUp(arrivals, departures).map((pair) =>
    changeOf(pair, pair.to && pair.from ? 'migrated' : pair.to ? 'added' : 'removed', now),
  );
}

interface Pair {
  readonly from?: Movement;
  readonly to?: Movement;
}

/** In an exclusive role one departure and one arrival form one movement; all remaining ones are separate. */
export function pairUp(arrivals: readonly Movement[], departures: readonly Movement[]): Pair[] {
  const pairs: Pair[] = [];
  const paired = new Set<Movement>();
  for (const role of EXCLUSIVE_ROLES) {
    const [to, ...moreTo] = arrivals.filter(({ service }) => service.role === role);
    const [from, ...moreFrom] = departures.filter(({ service }) => service.role === role);
    if (!to || !from || moreTo.length > 0 || moreFrom.length > 0) continue;
    pairs.push({ from, to });
    paired.add(from).add(to);
  }
  for (const from of departures) if (!paired.has(from)) pairs.push({ from });
  for (const to of arrivals) if (!paired.has(to)) pairs.push({ to });
  return pairs;
}

export function changeOf({ from, to }: Pair, type: ChangeType, now: number): ServiceChange {
  const main = to ?? from;
  if (!main) throw new Error('a change needs a service');
  const { category, role, confidence } = main.service;
  return {
    at: Math.min(to?.at ?? now, from?.at ?? now),
    confirmedAt: now,
    category,
    role,
    type,
    from: from?.service.provider ?? null,
    to: to?.service.provider ?? null,
    confidence,
    importance: ROLE_FACTS[role].importance ?? 'low',
  };
}

const WEIGHT: Readonly<Record<Importance, number>> = { low: 0, medium: 1, high: 2 };

/** A change, and what it means for the providers of the domain in all categories. */
export interface NewChange {
  readonly change: ServiceChange;
  /** The domain did not use `to` before, in any category. */
  readonly isEntry: boolean;
  /** The domain no longer uses `from`, in any category. */
  readonly isExit: boolean;
}

/** The reverse of the page order, which is newest first: of changes at the same time the most important comes last. */
export function newChanges(
  changes: readonly ServiceChange[],
  before: readonly KnownService[],
  after: readonly KnownService[],
): NewChange[] {
  const used = publishedProviders(before);
  const uses = publishedProviders(after);
  return changes
    .toSorted((a, b) => a.at - b.at || WEIGHT[a.importance] - WEIGHT[b.importance])
    .map((change) => {
      const { from, to } = change;
      // A provider that is added or removed in several categories counts once.
      const isEntry = to !== null && !used.has(to);
      const isExit = from !== null && used.has(from) && !uses.has(from);
      if (to !== null) used.add(to);
      if (isExit) used.delete(from);
      return { change, isEntry, isExit };
    });
}

function publishedProviders(services: readonly KnownService[]): Set<string> {
  return new Set(services.filter(({ status }) => status !== 'pending').map(({ provider }) => provider));
}
