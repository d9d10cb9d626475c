// Which events are matched together, and the domains as these events left them: a list that follows a query has a domain for the
// events by which it begins or ceases to match, also when later events have changed it again. Pure.
import { type Analytics, IndexBuilder, memoryAnalytics } from '@strata/analytics';
import type { RoleOf } from '@strata/detect';
import type { StoredEvent } from '../store/index.ts';

/** Events that say what a domain is now; its confirmed changes precede them. */
const isState = ({ kind }: StoredEvent) => kind === 'domain-changed' || kind === 'domain-removed';

/** The first events, as many as have at most one state of each domain. `isCut`: the last domain may have further events. */
export function firstStates(events: readonly StoredEvent[], isCut: boolean): readonly StoredEvent[] {
  const known = new Set<string>();
  const complete = isCut ? events.findLastIndex(isState) + 1 : 0;
  const step = events.slice(0, complete || events.length);
  const end = step.findIndex((event) => {
    if (known.has(event.domain) && (isState(event) || event.kind === 'change-confirmed')) return true;
    if (isState(event)) known.add(event.domain);
    return false;
  });
  return end < 0 ? step : step.slice(0, end);
}

/** The domains that have a new state. */
export const changedIn = (events: readonly StoredEvent[]): string[] =>
  events.filter(isState).map(({ domain }) => domain);

/**
 * Answers about the domains that changed, as they were then; removed ones are not in it. `live` has the times before these
 * events.
 */
export async function analyticsOfChanges(
  events: readonly StoredEvent[],
  { live, roleOf }: { readonly live: Analytics; readonly roleOf: RoleOf },
): Promise<Analytics> {
  const builder = new IndexBuilder(roleOf);
  const confirmed = new Map<string, number>();
  for (const { kind, domain, payload } of events)
    if (kind === 'change-confirmed' && payload.type !== 'reclassified') confirmed.set(domain, payload.confirmedAt);
  const changed = events.filter((event) => event.kind === 'domain-changed');
  const ids = changed.filter(({ payload }) => !payload.isFirst).map(({ payload }) => payload.domainId);
  const { domains } = await live.search({ filter: { among: { ids } }, limit: ids.length, offset: 0 });
  const rows = new Map(domains.map((row) => [row.id, row]));
  for (const [id, { domain, payload }] of changed.entries()) {
    const known = payload.isFirst ? undefined : rows.get(payload.domainId);
    const before = known ?? { firstSeen: payload.scannedAt, changedAt: 0 };
    const changedAt = confirmed.get(domain) ?? before.changedAt;
    builder.put({ ...payload, id, name: domain, firstSeen: before.firstSeen, changedAt });
  }
  return memoryAnalytics(builder.build({ seq: 0, scanId: 0 }));
}
