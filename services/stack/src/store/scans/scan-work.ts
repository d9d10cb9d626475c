// Scan leases: due domains are leased to one process, which scans or releases them. The lease of a killed process expires; a
// domain that is therefore scanned twice is recorded like any two scans.

import { integer, isPostgres, listed, withRetries, writePipelined } from '@strata/db';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';

export interface Claim {
  /** Identifies the process; unique. */
  readonly holder: string;
  readonly limit: number;
  /** Duration of the lease, unless it is renewed; at most an hour. */
  readonly leaseMs: number;
}

/** Counts over all domains in one snapshot. */
export interface ScanProgress {
  readonly domains: number;
  /** Due and not leased. */
  readonly due: number;
  /** Due and leased. */
  readonly leased: number;
  /** Scanned and not due. */
  readonly upToDate: number;
}

/** Client requests for a domain are recorded once an hour. */
const MARKED_MS = 3_600_000;
/** A lease that ends later than this was acquired while the clock was ahead, and is ignored. */
const LONGEST_LEASE_MS = 3_600_000;

export class ScanWork {
  readonly #db: Kysely<Database>;
  readonly #rescanAfterMs: number;

  constructor(db: Kysely<Database>, { rescanAfterMs }: { readonly rescanAfterMs: number }) {
    this.#db = db;
    this.#rescanAfterMs = rescanAfterMs;
  }

  /**
   * Leases due domains: up to half of them domains that wait for confirmation, then domains that were never scanned, then the
   * longest overdue. Each domain is leased to one process. Concurrent callers do not block each other, so a caller may get
   * fewer domains than are due. Recording a scan ends its lease.
   */
  async claimDue({ holder, limit, leaseMs }: Claim, now: Date): Promise<string[]> {
    if (!(leaseMs > 0 && leaseMs <= LONGEST_LEASE_MS)) throw new RangeError(`${leaseMs} ms is not a valid lease`);
    const lease = { holder, at: now.getTime(), until: now.getTime() + leaseMs };
    // Half, so that neither kind of domain can starve the other.
    const waiting = await this.#claim(sql`is_waiting = 1 and`, Math.floor(limit / 2), lease);
    return [...waiting, ...(await this.#claim(sql``, limit - waiting.length, lease))];
  }

  async #claim(
    which: RawBuilder<unknown>,
    limit: number,
    { holder, at, until }: { readonly holder: string; readonly at: number; readonly until: number },
  ): Promise<string[]> {
    if (limit === 0) return [];
    // On PostgreSQL concurrent callers skip each other's locked rows; a lease acquired after this statement's snapshot is kept
    // by the `where` of the conflict clause. The scalar subquery keeps the planner from reading all leases for each domain.
    const skipping = isPostgres(this.#db) ? sql`for update skip locked` : sql``;
    const claim = sql<{ name: string; due_at: number; domain_id: number }>`
      insert into scan_leases (domain_id, holder, until)
      select id, cast(${holder} as text), ${integer(until)} from (
        select id from domains where ${which} next_due_at <= ${at}
          and coalesce((select until from scan_leases where domain_id = domains.id), 0)
            not between ${at + 1} and ${at + LONGEST_LEASE_MS}
        order by next_due_at, id limit ${limit} ${skipping}) as due where true
      on conflict (domain_id) do update set holder = excluded.holder, until = excluded.until where not (${isHeld(at)})
      returning domain_id, (select name from domains where id = domain_id) as name,
        (select next_due_at from domains where id = domain_id) as due_at`;
    const { rows } = await withRetries(() => claim.execute(this.#db));
    return rows.toSorted((a, b) => a.due_at - b.due_at || a.domain_id - b.domain_id).map(({ name }) => name);
  }

  /** Extends the leases of these names; returns the names that the holder no longer holds: leased to another process, or scanned. */
  async renew(names: readonly string[], { holder, leaseMs }: Omit<Claim, 'limit'>, now: Date): Promise<string[]> {
    const renewing = sql<{ name: string }>`
      update scan_leases set until = ${now.getTime() + leaseMs} where holder = ${holder}
        and domain_id in (select id from domains where name in ${listed(this.#db, names)})
      returning (select name from domains where id = domain_id) as name`;
    const [held] = await writePipelined(this.#db, [renewing.compile(this.#db)]);
    const kept = new Set(held.rows.map(({ name }) => name));
    return names.filter((name) => !kept.has(name));
  }

  /** Releases all leases of the holder, or those of these names. */
  async release(holder: string, names?: readonly string[]): Promise<void> {
    const these = names
      ? sql`and domain_id in (select id from domains where name in ${listed(this.#db, names)})`
      : sql``;
    const releasing = sql<never>`delete from scan_leases where holder = ${holder} ${these}`;
    await writePipelined(this.#db, [releasing.compile(this.#db)]);
  }

  /** Postpones a domain that must not be scanned by the usual interval. */
  async postpone(name: string, now: Date): Promise<void> {
    const next_due_at = now.getTime() + this.#rescanAfterMs;
    const update = this.#db.updateTable('domains').set({ next_due_at }).where('name', '=', name);
    const ending = sql<never>`delete from scan_leases where domain_id = (select id from domains where name = ${name})`;
    await writePipelined(this.#db, [update.compile(), ending.compile(this.#db)]);
  }

  /** Records client requests: the domains are scanned more often for a week, and not forgotten. Written once an hour for each. */
  async markRequested(names: readonly string[], now: Date): Promise<void> {
    const asked = this.#db
      .updateTable('domains')
      .set({ asked_at: now.getTime() })
      .where('name', 'in', listed(this.#db, names))
      .where((eb) => eb.or([eb('asked_at', 'is', null), eb('asked_at', '<', now.getTime() - MARKED_MS)]));
    await writePipelined(this.#db, [asked.compile()]);
  }

  async progress(now: Date): Promise<ScanProgress> {
    const at = now.getTime();
    const { rows } = await sql<{ domains: number; overdue: number; leased: number }>`
      select (select count(*) from domains) as domains,
        (select count(*) from domains where next_due_at <= ${at}) as overdue,
        (select count(*) from scan_leases where ${isHeld(at)}
          and exists (select 1 from domains where id = domain_id and next_due_at <= ${at})) as leased`.execute(
      this.#db,
    );
    const { domains = 0, overdue = 0, leased = 0 } = rows[0] ?? {};
    return { domains, due: overdue - leased, leased, upToDate: domains - overdue };
  }
}

function isHeld(at: number): RawBuilder<boolean> {
  return sql`scan_leases.until between ${at + 1} and ${at + LONGEST_LEASE_MS}`;
}
