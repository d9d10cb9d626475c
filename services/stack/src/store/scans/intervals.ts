// The services of one domain as rows: reads them for reconciliation, and determines the rows that a scan changes. Pure.
import { type KnownService, keyOf, type Reconciliation, type ServiceEvidence } from '@strata/detect';
import type { Selectable } from 'kysely';
import type { Database } from '../schema.ts';

type DomainRow = Selectable<Database['domains']>;

export interface OpenInterval extends KnownService {
  readonly id: number;
}

/** A null `last_seen` means the domain's last scan, see schema.ts. */
export function openIntervals(
  rows: readonly Selectable<Database['services']>[],
  domain: Pick<DomainRow, 'last_scanned_at'>,
): OpenInterval[] {
  return rows.map((row) => ({
    id: row.id,
    category: row.category,
    role: row.role,
    provider: row.provider,
    confidence: row.confidence,
    score: row.score,
    evidence: JSON.parse(row.evidence) as ServiceEvidence[],
    version: row.version,
    platform: row.platform,
    status: row.status,
    validFrom: row.valid_from,
    lastObserved: row.last_seen ?? domain.last_scanned_at ?? row.valid_from,
    firstMissed: row.first_missed,
  }));
}

/** Rows of `services` that a scan writes: only rows that differ, so that an unchanged stack writes none. */
export interface IntervalWrites {
  readonly ended: readonly { readonly id: number; readonly validTo: number; readonly lastObserved: number }[];
  readonly dropped: readonly number[];
  readonly updated: readonly (IntervalValues & { readonly id: number })[];
  readonly begun: readonly (IntervalValues &
    Pick<Selectable<Database['services']>, 'category' | 'role' | 'provider' | 'valid_from'>)[];
}

/** `now` is the time of the scan. */
export function intervalWrites(
  domain: Pick<DomainRow, 'last_scanned_at'>,
  known: readonly OpenInterval[],
  result: Reconciliation,
  now: number,
): IntervalWrites {
  const before = new Map(known.map((service) => [keyOf(service), service]));
  const take = (service: KnownService): OpenInterval[] => {
    const old = before.get(keyOf(service));
    before.delete(keyOf(service));
    return old ? [old] : [];
  };
  // A service that new rules end and the scan finds again has the same key: it begins a new row.
  const ended = result.ended.flatMap(({ service, validTo }) =>
    take(service).map(({ id, lastObserved }) => ({ id, validTo, lastObserved })),
  );
  const dropped = result.dropped.flatMap((service) => take(service).map(({ id }) => id));
  const updated = [];
  const begun = [];
  for (const service of result.open) {
    const old = before.get(keyOf(service));
    const row = rowOf(service, now);
    if (!old) {
      const { category, role, provider, validFrom: valid_from } = service;
      begun.push({ category, role, provider, valid_from, ...row });
    } else if (JSON.stringify(row) !== JSON.stringify(rowOf(old, domain.last_scanned_at))) {
      updated.push({ id: old.id, ...row });
    }
  }
  return { ended, dropped, updated, begun };
}

type IntervalValues = ReturnType<typeof rowOf>;

/** The columns that a scan may change; `lastScan` is the time of the scan that a null `last_seen` means. */
function rowOf(service: KnownService, lastScan: number | null) {
  return {
    confidence: service.confidence,
    score: service.score,
    evidence: JSON.stringify(service.evidence),
    version: service.version,
    platform: service.platform,
    status: service.status,
    last_seen: service.lastObserved === lastScan ? null : service.lastObserved,
    first_missed: service.firstMissed,
  };
}
