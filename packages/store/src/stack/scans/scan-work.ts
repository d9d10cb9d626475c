// Who scans what: domains that are due are leased to one process, which scans them or gives them back. A lease of a process that
// was killed ends by itself; a domain that is scanned twice for that reason is recorded as any two looks are.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from '../../db/dialects/postgres-dialect.ts';
import { integer, listed } from '../../db/statements/json-rows.ts';
import { withRetries, writeTogether } from '../../db/transactions/write-transaction.ts';
import type { Database } from '../../schema.ts';

export interface Claim {
  /** Names the process that takes them; no two share one. */
  readonly holder: string;
  readonly limit: number;
  /** How long nobody else gets them, unless they are renewed; at most an hour. */
  readonly leaseMs: number;
}

/** Of all domains, as of one moment. */
export interface ScanProgress {
  readonly domains: number;
  /** Due, and nobody scans them yet. */
  readonly due: number;
  /** Due, and somebody scans them. */
  readonly leased: number;
  /** Scanned in this round: not due before the next one. */
  readonly upToDate: number;
}

/** Requests for a domain are recorded to the hour. */
const MARKED_MS = 3_600_000;
/** A lease that ends later than this from now was taken while the clock was ahead, and does not count. */
const LONGEST_LEASE_MS = 3_600_000;

export class ScanWork {
  readonly #db: Kysely<Database>;
  readonly #rescanAfterMs: number;

  constructor(db: Kysely<Database>, { rescanAfterMs }: { readonly rescanAfterMs: number }) {
    this.#db = db;
    this.#rescanAfterMs = rescanAfterMs;
  }

  /**
   * Leases domains that are due: up to half of them such as wait for a second look, then never scanned ones, then the longest overdue.
   * Each goes to one process, however many ask at once, and none waits for another: who comes while others are asking may get
   * fewer than there are. Recording a scan ends its lease.
   */
  async claimDue({ holder, limit, leaseMs }: Claim, now: Date): Promise<string[]> {
    if (!(leaseMs > 0 && leaseMs <= LONGEST_LEASE_MS)) throw new RangeError(`a lease of ${leaseMs} ms is none`);
    const lease = { holder, at: now.getTime(), until: now.getTime() + leaseMs };
    // Half, so that neither they nor all others can be kept waiting by the other kind.
    const waiting = await this.#claim(sql`is_waiting = 1 and`, Math.floor(limit / 2), lease);
    return [...waiting, ...(await this.#claim(sql``, limit - waiting.length, lease))];
  }

  async #claim(
    which: RawBuilder<unknown>,
    limit: number,
    { holder, at, until }: { readonly holder: string; readonly at: number; readonly until: number },
  ): Promise<string[]> {
    if (limit === 0) return [];
    // On PostgreSQL two that look at once pass over one another's rows; what one has leased since the other looked stays with it.
    // The lease is looked up for each domain, which no planner can turn into reading all leases for each.
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

  /** Holds these for longer; gives those that the holder has no more: another process has them, or they were scanned. */
  async renew(names: readonly string[], { holder, leaseMs }: Omit<Claim, 'limit'>, now: Date): Promise<string[]> {
    const renewing = sql<{ name: string }>`
      update scan_leases set until = ${now.getTime() + leaseMs} where holder = ${holder}
        and domain_id in (select id from domains where name in ${listed(this.#db, names)})
      returning (select name from domains where id = domain_id) as name`;
    const [held] = await writeTogether(this.#db, [renewing.compile(this.#db)]);
    const kept = new Set(held.rows.map(({ name }) => name));
    return names.filter((name) => !kept.has(name));
  }

  /** Gives back what the holder has leased and not recorded: all, or these. */
  async release(holder: string, names?: readonly string[]): Promise<void> {
    const these = names
      ? sql`and domain_id in (select id from domains where name in ${listed(this.#db, names)})`
      : sql``;
    const releasing = sql<never>`delete from scan_leases where holder = ${holder} ${these}`;
    await writeTogether(this.#db, [releasing.compile(this.#db)]);
  }

  /** A domain that is not to be scanned is asked about again as if it had been scanned. */
  async putOff(name: string, now: Date): Promise<void> {
    const next_due_at = now.getTime() + this.#rescanAfterMs;
    const update = this.#db.updateTable('domains').set({ next_due_at }).where('name', '=', name);
    const ending = sql<never>`delete from scan_leases where domain_id = (select id from domains where name = ${name})`;
    await writeTogether(this.#db, [update.compile(), ending.compile(this.#db)]);
  }

  /** Clients asked for these: they are scanned more often for a week, and not forgotten. Written once an hour for each. */
  async markAsked(names: readonly string[], now: Date): Promise<void> {
    const asked = this.#db
      .updateTable('domains')
      .set({ asked_at: now.getTime() })
      .where('name', 'in', listed(this.#db, names))
      .where((eb) => eb.or([eb('asked_at', 'is', null), eb('asked_at', '<', now.getTime() - MARKED_MS)]));
    await writeTogether(this.#db, [asked.compile()]);
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
