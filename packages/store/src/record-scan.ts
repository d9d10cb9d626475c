// One scan, one transaction: the scan, the intervals it moves, the changes it confirms, the events that tell of it.
import { deflateSync, inflateSync } from 'node:zlib';
import {
  type Evidence,
  type KnownService,
  keyOf,
  type Profile,
  reconcile,
  type ServiceChange,
  SOURCES,
  type Source,
  stillParked,
} from '@strata/detect';
import type { Kysely, Selectable, Transaction } from 'kysely';
import { openIntervals, writeIntervals } from './intervals.ts';
import { plan } from './plan.ts';
import type { Database } from './schema.ts';
import { insertChanges, type Told, tellDomain, toldOf } from './tell.ts';

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
  /** Whether what is told of the domain differs in anything but the time of the scan and of the last sight. */
  readonly isChanged: boolean;
  readonly isFirst: boolean;
}

type DomainRow = Selectable<Database['domains']>;

/** A domain that could not be resolved at all is tried again after this, doubled for each failure in a row. */
const RETRY_AFTER_MS = 15 * 60_000;

export type RecordScan = (scan: ScanRecord, options: RecordOptions) => Promise<RecordedScan>;

/** A domain is due again `rescanAfterMs` after a scan, sooner when something waits or nothing was resolved. */
export function createRecorder(
  db: Kysely<Database>,
  { rescanAfterMs }: { readonly rescanAfterMs: number },
): RecordScan {
  const plans = createPlans(db);
  return (scan, options) =>
    db.transaction().execute((tx) => recordScan(tx, plans, scan, { ...options, rescanAfterMs }));
}

async function recordScan(
  tx: Transaction<Database>,
  plans: Plans,
  scan: ScanRecord,
  options: RecordOptions & { readonly rescanAfterMs: number },
): Promise<RecordedScan> {
  const now = Date.parse(scan.profile.observedAt);
  const domain = await ensureDomain(tx, plans, scan.profile, now);
  const profile = stillParked(scan.profile, domain);
  const scanId = await insertScan(tx, plans, domain.id, { ...scan, profile });
  const isFirst = domain.last_scanned_at === null;
  if (profile.state === 'unmeasured') {
    // It saw nothing: what the last good scan said stands, and the next one comes sooner.
    await updateDomain(tx, domain, { failures: domain.failures + 1, next_due_at: retryAt(now, domain, options) });
    return { changes: [], isChanged: false, isFirst };
  }
  // Another process was faster with a later look: history never runs backwards.
  if (now < (domain.last_scanned_at ?? 0)) return { changes: [], isChanged: false, isFirst };

  const known = openIntervals(await plans.openOf(tx, { domainId: domain.id }), domain);
  const { previous, measuredBefore } = await readPrevious(tx, domain, options.redetect, profile);
  const { confirmAfterMs, rescanAfterMs } = options;
  const result = reconcile(known, profile, { confirmAfterMs, measuredBefore, ...(previous ? { previous } : {}) });
  await writeIntervals(tx, domain, known, result, now);
  const changes = await insertChanges(tx, { domain, scanId, result, known });

  const told = toldOf(profile, domain);
  const isChanged = isFirst || differs(domain, told) || servicesToldOf(known) !== servicesToldOf(result.open);
  if (isChanged) await tellDomain(tx, domain, profile, { now, isFirst, told, known, open: result.open });
  // While something waits, the newest look is kept even if it changes nothing that is told: a new rulebook must not
  // read an older one that lacks what has come back since.
  const isMoving = result.isPending || known.some(({ status }) => status !== 'confirmed');
  if (isChanged || isMoving) await keepEvidence(tx, domain.id, scan.evidence, now);
  const looked = {
    last_scanned_at: now,
    measured: [...measuredBefore.union(measuredBy(profile))].join(','),
    // A millisecond more, so that the second look is surely far enough from the first.
    next_due_at: now + (result.isPending ? Math.min(confirmAfterMs + 1, rescanAfterMs) : rescanAfterMs),
  };
  if (isChanged) await updateDomain(tx, domain, { ...told, ...looked, failures: 0 });
  else await plans.seeAgain(tx, { id: domain.id, ...looked });
  return { changes, isChanged, isFirst };
}

type Plans = ReturnType<typeof createPlans>;

/** What runs with every scan. */
function createPlans(db: Kysely<Database>) {
  return {
    findDomain: plan(({ name }: { name: string }) => db.selectFrom('domains').where('name', '=', name).selectAll()),
    openOf: plan(({ domainId }: { domainId: number }) =>
      db.selectFrom('services').where('domain_id', '=', domainId).where('valid_to', 'is', null).selectAll(),
    ),
    insertScan: plan((row: Omit<Selectable<Database['scans']>, 'id'>) => {
      const { domain_id, started_at, finished_at, state, rulebook, services, unmeasured, observed_at, records } = row;
      return db
        .insertInto('scans')
        .values({ domain_id, started_at, finished_at, state, rulebook, services, unmeasured, observed_at, records })
        .returning('id');
    }),
    seeAgain: plan((row: { id: number; last_scanned_at: number; measured: string; next_due_at: number }) => {
      const { last_scanned_at, measured, next_due_at } = row;
      const looked = { last_scanned_at, measured, next_due_at, failures: 0 };
      return db.updateTable('domains').set(looked).where('id', '=', row.id);
    }),
  };
}

async function ensureDomain(
  tx: Transaction<Database>,
  plans: Plans,
  profile: Profile,
  now: number,
): Promise<DomainRow> {
  const [found] = await plans.findDomain(tx, { name: profile.domain });
  if (found) return found;
  return tx
    .insertInto('domains')
    .values({ name: profile.domain, source: 'on-demand', created_at: now, next_due_at: 0 })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** What this rulebook has read of the domain so far; under a new rulebook, that is the evidence kept, read again. */
async function readPrevious(
  tx: Transaction<Database>,
  domain: DomainRow,
  redetect: ((evidence: Evidence) => Profile) | undefined,
  profile: Profile,
): Promise<{ readonly previous?: Profile; readonly measuredBefore: ReadonlySet<Source> }> {
  if (!redetect || domain.rulebook === null || domain.rulebook === profile.rulebook) {
    return { measuredBefore: new Set(domain.measured.split(',').filter(Boolean) as Source[]) };
  }
  const row = await tx.selectFrom('evidence').where('domain_id', '=', domain.id).select('body').executeTakeFirst();
  if (!row) return { measuredBefore: new Set() };
  const previous = redetect(JSON.parse(inflateSync(row.body).toString('utf8')) as Evidence);
  return { previous, measuredBefore: measuredBy(previous) };
}

async function insertScan(
  tx: Transaction<Database>,
  plans: Plans,
  domainId: number,
  scan: ScanRecord,
): Promise<number> {
  const { profile } = scan;
  const unmeasured = SOURCES.filter((source) => ['unmeasured', 'blocked'].includes(profile.sources[source]));
  const [row] = await plans.insertScan(tx, {
    domain_id: domainId,
    started_at: scan.startedAt.getTime(),
    finished_at: scan.finishedAt.getTime(),
    state: profile.state,
    rulebook: profile.rulebook,
    services: profile.services.length,
    unmeasured: unmeasured.join(','),
    observed_at: Date.parse(profile.observedAt),
    records: recordsIn(scan.evidence),
  });
  if (!row) throw new Error('an inserted scan has an id');
  return row.id;
}

/** DNS records that the probe saw: how much a domain publishes, whoever serves it. */
function recordsIn({ dns }: Evidence): number {
  const { named, wildcardA: _a, wildcardTxt: _txt, wildcardMx: _mx, ...asked } = dns;
  const lookups = [...Object.values(asked), ...Object.values(named)];
  return lookups.reduce((sum, { records, aliases }) => sum + records.length + aliases.length, 0);
}

/** A window of 8 KiB costs half the time of the default's 32 and packs evidence as small. */
const PACKING = { level: 3, windowBits: 13, memLevel: 6 } as const;

async function keepEvidence(tx: Transaction<Database>, domain_id: number, evidence: Evidence, observed_at: number) {
  const body = deflateSync(JSON.stringify(evidence), PACKING);
  await tx
    .insertInto('evidence')
    .values({ domain_id, observed_at, body })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ observed_at, body }))
    .execute();
}

async function updateDomain(tx: Transaction<Database>, domain: DomainRow, values: Partial<DomainRow>): Promise<void> {
  await tx.updateTable('domains').set(values).where('id', '=', domain.id).execute();
}

function differs(domain: DomainRow, told: Told): boolean {
  return (
    domain.summary !== told.summary ||
    domain.state !== told.state ||
    domain.sector !== told.sector ||
    domain.posture_bits !== told.posture_bits ||
    domain.holder_bits !== told.holder_bits ||
    domain.rulebook !== told.rulebook
  );
}

/** What a reader is told of the services: a pending one is not, a first miss changes nothing yet. */
function servicesToldOf(services: readonly KnownService[]): string {
  const told = services.filter((service) => service.status !== 'pending');
  return JSON.stringify(told.map((s) => [keyOf(s), s.confidence, s.score, s.evidence, s.version, s.platform]).sort());
}

function measuredBy(profile: Profile): ReadonlySet<Source> {
  return new Set(
    SOURCES.filter((source) => profile.sources[source] === 'observed' || profile.sources[source] === 'absent'),
  );
}

function retryAt(now: number, { failures }: DomainRow, { rescanAfterMs }: { readonly rescanAfterMs: number }): number {
  return now + Math.min(RETRY_AFTER_MS * 2 ** Math.min(failures, 10), rescanAfterMs);
}
