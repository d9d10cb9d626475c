// Rows of a block of the logs: events and scans. Of several states of a domain only the last one counts.
import { dayOf, type IndexedChange, type IndexedDomain } from '@strata/analytics';
import type { RoleOf } from '@strata/detect';
import type { BlockRows } from './apply-block.ts';
import { type StateRow, stateRowOf } from './domain-row.ts';
import type { ExportEvent, ExportScan } from './source.ts';

const secondsOf = (ms: number): number => Math.floor(ms / 1_000);

/** Ids of the domains whose state the events set. */
export function changedIds(events: readonly ExportEvent[]): number[] {
  return [...new Set(events.flatMap((event) => idsOf(event)))];
}

function idsOf(event: ExportEvent): number[] {
  if (event.kind === 'put') return [event.domain.id];
  return event.kind === 'remove' ? [event.domainId] : [];
}

/** A state that is as new as an event, from the read of all domains, stays. */
export function logRows(
  { events, scans }: { readonly events: readonly ExportEvent[]; readonly scans: readonly ExportScan[] },
  before: ReadonlyMap<number, StateRow>,
  roleOf: RoleOf,
): BlockRows {
  const states = new Map<number, StateRow | undefined>();
  const times: Record<string, number>[] = [];
  const days: ReturnType<typeof dayRows> = [];
  const migrations: Record<string, unknown>[] = [];
  for (const event of events) {
    if (event.kind === 'change') {
      const { change } = event;
      days.push(...dayRows(change));
      migrations.push(...migrationRows(change));
      // A change of the rulebook is not one of the domain.
      const touched = { id: change.domainId, scanned_at: 0, first_seen: 0 };
      if (change.type !== 'reclassified') times.push({ ...touched, changed_at: secondsOf(change.confirmedAt) });
    }
    for (const id of idsOf(event)) {
      const known = states.has(id) ? states.get(id) : before.get(id);
      if (known !== undefined && known.seq >= event.seq) continue;
      if (event.kind !== 'put') states.set(id, undefined);
      else {
        states.set(id, stateRowOf(event.domain, { seq: event.seq, roleOf, before: known }));
        // The first scan is that of a domain that was not there; 0 leaves a time as it is.
        const { first_seen, ...scanned } = timesOf(event.domain);
        times.push({ ...scanned, first_seen: known === undefined ? first_seen : 0 });
      }
    }
  }
  const domains = [...states].flatMap(([id, after]) => {
    const replaced = before.get(id);
    return [...(replaced ? [{ ...replaced, sign: -1 }] : []), ...(after ? [{ ...after, sign: 1 }] : [])];
  });
  const scanned = scans.filter(({ state }) => state !== 'unmeasured');
  for (const { domainId, at } of scanned) times.push({ id: domainId, scanned_at: at, first_seen: 0, changed_at: 0 });
  return { domains, times, change_days: days, migrations, scan_days: scans.map(scanDayRow) };
}

export function timesOf({ id, scannedAt, firstSeen = scannedAt, changedAt = 0 }: IndexedDomain) {
  return { id, scanned_at: scannedAt, first_seen: secondsOf(firstSeen), changed_at: secondsOf(changedAt) };
}

/** As `ChangeHistory.add` counts it. */
function dayRows({ category, type, from, to, confirmedAt, isEntry, isExit }: IndexedChange) {
  const none = {
    category,
    day: dayOf(confirmedAt),
    gained: 0,
    entered: 0,
    lost: 0,
    exited: 0,
    migrated: 0,
    reclassified: 0,
  };
  if (type === 'reclassified')
    return [from, to].flatMap((provider) => (provider === null ? [] : [{ ...none, provider, reclassified: 1 }]));
  const migrated = Number(type === 'migrated' && from !== null && to !== null);
  return [
    ...(to === null ? [] : [{ ...none, provider: to, gained: 1, entered: Number(isEntry), migrated }]),
    ...(from === null ? [] : [{ ...none, provider: from, lost: 1, exited: Number(isExit) }]),
  ];
}

function migrationRows({ domainId, category, type, from, to, confirmedAt }: IndexedChange) {
  if (type !== 'migrated' || from === null || to === null) return [];
  return [{ domain_id: domainId, confirmed_at: confirmedAt, category, from_provider: from, to_provider: to }];
}

function scanDayRow({ at, state, rulebook }: ExportScan) {
  return { day: dayOf(at), rulebook, scans: 1, measured: state === 'unmeasured' ? 0 : 1 };
}
