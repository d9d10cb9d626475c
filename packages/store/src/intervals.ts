// The services of one domain as rows: read into what history reasons about, and written back where something differs.
import { type KnownService, keyOf, type Reconciliation, type ServiceEvidence } from '@strata/detect';
import type { Selectable, Transaction } from 'kysely';
import type { Database } from './schema.ts';

type DomainRow = Selectable<Database['domains']>;

export interface OpenInterval extends KnownService {
  readonly id: number;
}

/** A null `last_seen` stands for the domain's last scan, see schema.ts. */
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
    lastSeen: row.last_seen ?? domain.last_scanned_at ?? row.valid_from,
    firstMissed: row.first_missed,
  }));
}

/** Writes only the rows that differ: an unchanged stack costs none. `now` is the time of the scan. */
export async function writeIntervals(
  tx: Transaction<Database>,
  domain: DomainRow,
  known: readonly OpenInterval[],
  result: Reconciliation,
  now: number,
): Promise<void> {
  const before = new Map(known.map((service) => [keyOf(service), service]));
  // Endings first: what new rules end and the scan sees anew has the same key, and never two open rows.
  for (const { service, validTo } of result.ended) {
    const old = before.get(keyOf(service));
    if (!old) continue;
    const end = { valid_to: validTo, last_seen: old.lastSeen };
    await tx.updateTable('services').set(end).where('id', '=', old.id).execute();
    before.delete(keyOf(service));
  }
  for (const service of result.dropped) {
    const old = before.get(keyOf(service));
    if (old) await tx.deleteFrom('services').where('id', '=', old.id).execute();
    before.delete(keyOf(service));
  }

  const begun = [];
  for (const service of result.open) {
    const old = before.get(keyOf(service));
    const row = rowOf(service, now);
    if (!old) {
      const { category, role, provider, validFrom: valid_from } = service;
      begun.push({ domain_id: domain.id, category, role, provider, valid_from, valid_to: null, ...row });
    } else if (JSON.stringify(row) !== JSON.stringify(rowOf(old, domain.last_scanned_at))) {
      await tx.updateTable('services').set(row).where('id', '=', old.id).execute();
    }
  }
  if (begun.length > 0) await tx.insertInto('services').values(begun).execute();
}

/** The columns that a scan may change; `lastScan` is the scan that a null `last_seen` would stand for. */
function rowOf(service: KnownService, lastScan: number | null) {
  return {
    confidence: service.confidence,
    score: service.score,
    evidence: JSON.stringify(service.evidence),
    version: service.version,
    platform: service.platform,
    status: service.status,
    last_seen: service.lastSeen === lastScan ? null : service.lastSeen,
    first_missed: service.firstMissed,
  };
}
