// One scan, one transaction: the scan, the intervals it moves, the changes it confirms, the events that tell of it.
import { deflateSync, inflateSync } from 'node:zlib';
import {
  type Evidence,
  type KnownService,
  keyOf,
  type Profile,
  type Reconciliation,
  reconcile,
  type ServiceChange,
  type ServiceEvidence,
  SOURCES,
  type Source,
} from '@strata/detect';
import type { Kysely, Selectable, Transaction } from 'kysely';
import { changeId } from './domains.ts';
import type { Database } from './schema.ts';

export interface ScanRecord {
  readonly profile: Profile;
  readonly evidence: Evidence;
  readonly startedAt: Date;
  readonly finishedAt: Date;
}

export interface RecordOptions {
  readonly confirmAfterMs: number;
  /** Reads stored evidence with today's rulebook; called only when the rulebook has changed since the last scan. */
  readonly redetect?: (evidence: Evidence) => Profile;
}

export interface RecordedScan {
  readonly changes: readonly (ServiceChange & { readonly id: string })[];
  /** Whether the services told of the domain differ from before. */
  readonly isChanged: boolean;
  readonly isFirst: boolean;
}

type DomainRow = Selectable<Database['domains']>;

/** A domain that could not be resolved at all is tried again after this, doubled for each failure in a row. */
const RETRY_AFTER_MS = 15 * 60_000;

export async function recordScan(
  db: Kysely<Database>,
  scan: ScanRecord,
  options: RecordOptions & { readonly rescanAfterMs: number },
): Promise<RecordedScan> {
  const { profile } = scan;
  const now = Date.parse(profile.observedAt);
  return db.transaction().execute(async (tx) => {
    const domain = await ensureDomain(tx, profile, now);
    const scanId = await insertScan(tx, domain.id, scan);
    const isFirst = domain.last_scanned_at === null;
    if (profile.state === 'unmeasured') {
      // It saw nothing: what the last good scan said stands, and the next one comes sooner.
      await updateDomain(tx, domain, { failures: domain.failures + 1, next_due_at: retryAt(now, domain, options) });
      return { changes: [], isChanged: false, isFirst };
    }

    const known = await readOpen(tx, domain);
    const previous = await readPrevious(tx, domain, options.redetect, profile);
    const measuredBefore = new Set(domain.measured.split(',').filter(Boolean)) as Set<Source>;
    const { confirmAfterMs, rescanAfterMs } = options;
    const result = reconcile(known, profile, { confirmAfterMs, measuredBefore, ...(previous ? { previous } : {}) });
    await writeIntervals(tx, domain, known, result, now);
    const changes = await insertChanges(tx, { domain, scanId, changes: result.changes });
    const summary = summaryOf(profile);
    const isChanged = isFirst || domain.summary !== summary || toldOf(known) !== toldOf(result.open);
    if (isChanged) await insertEvent(tx, 'domain-changed', profile.domain, now, { rulebook: profile.rulebook });
    if (isChanged || domain.rulebook !== profile.rulebook) await keepEvidence(tx, domain.id, scan.evidence, now);
    await updateDomain(tx, domain, {
      summary,
      state: profile.state,
      sector: profile.sector,
      rulebook: profile.rulebook,
      last_scanned_at: now,
      measured: [...measuredBefore.union(measuredNow(profile))].join(','),
      failures: 0,
      // A millisecond more, so that the second look is surely far enough from the first.
      next_due_at: now + (result.isPending ? Math.min(confirmAfterMs + 1, rescanAfterMs) : rescanAfterMs),
    });
    return { changes, isChanged, isFirst };
  });
}

async function ensureDomain(tx: Transaction<Database>, profile: Profile, now: number): Promise<DomainRow> {
  const find = () => tx.selectFrom('domains').where('name', '=', profile.domain).selectAll().executeTakeFirst();
  const found = await find();
  if (found) return found;
  return tx
    .insertInto('domains')
    .values({ name: profile.domain, source: 'on-demand', created_at: now, next_due_at: 0 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function readOpen(tx: Transaction<Database>, domain: DomainRow): Promise<(KnownService & { id: number })[]> {
  const rows = await tx
    .selectFrom('services')
    .where('domain_id', '=', domain.id)
    .where('valid_to', 'is', null)
    .selectAll()
    .execute();
  return rows.map((row) => ({
    id: row.id,
    category: row.category,
    role: row.role,
    provider: row.provider,
    confidence: row.confidence,
    score: row.score,
    evidence: JSON.parse(row.evidence) as ServiceEvidence[],
    status: row.status,
    validFrom: row.valid_from,
    lastSeen: row.last_seen ?? domain.last_scanned_at ?? row.valid_from,
    firstMissed: row.first_missed,
  }));
}

async function readPrevious(
  tx: Transaction<Database>,
  domain: DomainRow,
  redetect: ((evidence: Evidence) => Profile) | undefined,
  profile: Profile,
): Promise<Profile | undefined> {
  if (!redetect || domain.rulebook === null || domain.rulebook === profile.rulebook) return undefined;
  const row = await tx.selectFrom('evidence').where('domain_id', '=', domain.id).select('body').executeTakeFirst();
  return row && redetect(JSON.parse(inflateSync(row.body).toString('utf8')) as Evidence);
}

async function insertScan(tx: Transaction<Database>, domainId: number, scan: ScanRecord): Promise<number> {
  const { profile } = scan;
  const unmeasured = SOURCES.filter((source) => ['unmeasured', 'blocked'].includes(profile.sources[source]));
  const { id } = await tx
    .insertInto('scans')
    .values({
      domain_id: domainId,
      started_at: scan.startedAt.getTime(),
      finished_at: scan.finishedAt.getTime(),
      state: profile.state,
      rulebook: profile.rulebook,
      services: profile.services.length,
      unmeasured: unmeasured.join(','),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Writes only the rows that differ: an unchanged stack costs none. */
async function writeIntervals(
  tx: Transaction<Database>,
  domain: DomainRow,
  known: readonly (KnownService & { id: number })[],
  result: Reconciliation,
  now: number,
): Promise<void> {
  const rowOf = (service: KnownService) => ({
    confidence: service.confidence,
    score: service.score,
    evidence: JSON.stringify(service.evidence),
    status: service.status,
    last_seen: service.lastSeen === now ? null : service.lastSeen,
    first_missed: service.firstMissed,
  });
  const before = new Map(known.map((service) => [keyOf(service), service]));
  for (const service of result.open) {
    const old = before.get(keyOf(service));
    const { category, role, provider, validFrom: valid_from } = service;
    if (!old || old.validFrom !== valid_from) {
      const fixed = { domain_id: domain.id, category, role, provider, valid_from, valid_to: null };
      await tx
        .insertInto('services')
        .values({ ...fixed, ...rowOf(service) })
        .execute();
    } else {
      const row = rowOf(service);
      const oldRow = { ...rowOf(old), last_seen: old.lastSeen === domain.last_scanned_at ? null : old.lastSeen };
      if (JSON.stringify(row) !== JSON.stringify(oldRow)) {
        await tx.updateTable('services').set(row).where('id', '=', old.id).execute();
      }
    }
  }
  for (const { service, validTo } of result.ended) {
    const old = before.get(keyOf(service));
    if (!old) continue;
    const end = { valid_to: validTo, last_seen: old.lastSeen };
    await tx.updateTable('services').set(end).where('id', '=', old.id).execute();
  }
  for (const service of result.dropped) {
    const old = before.get(keyOf(service));
    if (old) await tx.deleteFrom('services').where('id', '=', old.id).execute();
  }
}

async function insertChanges(
  tx: Transaction<Database>,
  { domain, scanId, changes }: { domain: DomainRow; scanId: number; changes: readonly ServiceChange[] },
) {
  const written = [];
  for (const change of changes) {
    const { confirmedAt: confirmed_at, from: from_provider, to: to_provider, ...same } = change;
    const { id } = await tx
      .insertInto('changes')
      .values({ ...same, confirmed_at, from_provider, to_provider, domain_id: domain.id, scan_id: scanId })
      .returning('id')
      .executeTakeFirstOrThrow();
    const told = { ...change, id: changeId(id) };
    if (change.type !== 'reclassified') await insertEvent(tx, 'migration', domain.name, confirmed_at, told);
    written.push(told);
  }
  return written;
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

async function keepEvidence(tx: Transaction<Database>, domain_id: number, evidence: Evidence, observed_at: number) {
  const body = deflateSync(JSON.stringify(evidence), { level: 3 });
  await tx
    .insertInto('evidence')
    .values({ domain_id, observed_at, body })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ observed_at, body }))
    .execute();
}

async function updateDomain(tx: Transaction<Database>, domain: DomainRow, values: Partial<DomainRow>): Promise<void> {
  await tx.updateTable('domains').set(values).where('id', '=', domain.id).execute();
}

/** What the scan says besides its services, in the order of keys that makes equal summaries equal texts. */
function summaryOf({ security, roles, sources, redirectsTo }: Profile): string {
  return JSON.stringify({ security, roles, sources, redirectsTo });
}

/** What a reader is told of the services: a pending one is not, a first miss changes nothing yet. */
function toldOf(services: readonly KnownService[]): string {
  const told = services.filter((service) => service.status !== 'pending');
  return JSON.stringify(told.map((s) => [keyOf(s), s.confidence, s.evidence]).sort());
}

function measuredNow(profile: Profile): Set<Source> {
  return new Set(
    SOURCES.filter((source) => profile.sources[source] === 'observed' || profile.sources[source] === 'absent'),
  );
}

function retryAt(now: number, { failures }: DomainRow, { rescanAfterMs }: { readonly rescanAfterMs: number }): number {
  return now + Math.min(RETRY_AFTER_MS * 2 ** Math.min(failures, 10), rescanAfterMs);
}
