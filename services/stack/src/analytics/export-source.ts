// The store as the exporter reads it.
import { FLOW_DAYS } from '@strata/analytics';
import type { ExportEvent, ExportSource } from '@strata/analytics-clickhouse';
import type { Store, StoredEvent } from '../store/index.ts';

export function exportSource({ feed, events }: Pick<Store, 'feed' | 'events'>): ExportSource {
  return {
    storeId: () => feed.storeId(),
    reaches: (position) => feed.reaches(position),
    readHistory: (reader) => feed.readAll(reader, { migrationDays: FLOW_DAYS }),
    domainsAfter: (id, limit) => feed.domainsAfter(id, limit),
    eventsSince: async (seq, limit) => (await events.since(seq, limit)).map(exportEvent),
    scansSince: (id, limit) => feed.scansSince(id, limit),
  };
}

function exportEvent(event: StoredEvent): ExportEvent {
  const { seq, domain: name } = event;
  switch (event.kind) {
    case 'domain-changed':
      return { seq, kind: 'put', domain: { ...event.payload, id: event.payload.domainId, name } };
    case 'domain-removed':
      return { seq, kind: 'remove', domainId: event.payload.domainId };
    case 'change-confirmed':
      return { seq, kind: 'change', change: event.payload };
    case 'posture-regressed':
    case 'advisory-touched':
    case 'domain-exposed':
    case 'anomaly-found':
      return { seq, kind: 'none' };
    default:
      return event satisfies never;
  }
}
