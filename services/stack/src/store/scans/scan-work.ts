// Scan leases: due domains are leased to one process, which scans or releases them. The lease of a killed process expires; a
// domain that is therefore scanned twice is recorded like any two scans. Leased domains are not in the indexes of due ones:
// the cost of a claim does not depend on the leases of other processes.

import { isPostgres, listed, withRetries, writePipelined } from '@strata/db';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Database } from '../schema.ts';

export interface Claim {
  /** Identifies the process; unique. */
  readonly holder: string;
  readonly limit: number;
  /** Duration of the lease, unless it is renewed; at most an hour. */
  readonly leaseMs: number;
}

/** Client requests for a domain are recorded once an hour. */
const MARKED_MS = 3_600_000;
/** A lease that ends later than this was acquired while the clock was ahead, and is ignored. */
const LONGEST_LEASE_MS = 3_600_000;
/** Expired leases that one claim ends; the rest is left to the next claims. */
const ENDED_AT_ONCE = 1_000;

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
    await this.#endExpired(now.getTime());
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
    const claim = sql<{ id: number; name: string; next_due_at: number }>`
      update domains set leased_until = ${until}, leased_by = ${holder} from (
        select id as due_id from domains where ${which} leased_until is null and next_due_at <= ${at}
        order by next_due_at, id limit ${limit} ${this.#skipping}) as due
      where id = due_id returning id, name, next_due_at`;
    const { rows } = await withRetries(() => claim.execute(this.#db));
    return rows.toSorted((a, b) => a.next_due_at - b.next_due_at || a.id - b.id).map(({ name }) => name);
  }

  /** Makes domains claimable whose lease has expired, or was acquired while the clock was ahead. */
  async #endExpired(at: number): Promise<void> {
    const expired = [sql`leased_until <= ${at}`, sql`leased_until > ${at + LONGEST_LEASE_MS}`];
    for (const which of expired) {
      const end = sql`update domains set leased_until = null, leased_by = null from (
        select id as expired_id from domains where ${which}
        order by leased_until limit ${ENDED_AT_ONCE} ${this.#skipping}) as expired
        where id = expired_id`;
      await withRetries(() => end.execute(this.#db));
    }
  }

  /** On PostgreSQL concurrent callers skip each other's locked rows. */
  get #skipping(): RawBuilder<unknown> {
    return isPostgres(this.#db) ? sql`for update skip locked` : sql``;
  }

  /** Extends the leases of these names; returns the names that the holder no longer holds: leased to another process, or scanned. */
  async renew(names: readonly string[], { holder, leaseMs }: Omit<Claim, 'limit'>, now: Date): Promise<string[]> {
    const renewing = sql<{ name: string }>`
      update domains set leased_until = ${now.getTime() + leaseMs}
      where leased_until is not null and leased_by = ${holder} and name in ${listed(this.#db, names)} returning name`;
    const [held] = await writePipelined(this.#db, [renewing.compile(this.#db)]);
    const kept = new Set(held.rows.map(({ name }) => name));
    return names.filter((name) => !kept.has(name));
  }

  /** Releases all leases of the holder, or those of these names. */
  async release(holder: string, names?: readonly string[]): Promise<void> {
    const these = names ? sql`and name in ${listed(this.#db, names)}` : sql``;
    const releasing = sql<never>`update domains set leased_until = null, leased_by = null
      where leased_until is not null and leased_by = ${holder} ${these}`;
    await writePipelined(this.#db, [releasing.compile(this.#db)]);
  }

  /** Postpones a domain that must not be scanned by the usual interval. */
  async postpone(name: string, now: Date): Promise<void> {
    const next_due_at = now.getTime() + this.#rescanAfterMs;
    const update = this.#db
      .updateTable('domains')
      .set({ next_due_at, leased_until: null, leased_by: null })
      .where('name', '=', name);
    await writePipelined(this.#db, [update.compile()]);
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
}
