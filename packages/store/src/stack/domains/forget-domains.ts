// Domains that a request had added and that no client has asked for since. What is known of them by their last scan goes: the profile, open
// services, evidence. Confirmed changes and the services that they ended stay, and so does the row with the name, which both refer to;
// scans stay for their own time.
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import { listed } from '../../db/statements/json-rows.ts';
import type { Database } from '../../schema.ts';
import type { DomainRemoved } from '../events/events.ts';

/** When a domain is due that is not followed: the greatest time of ECMAScript. */
const NEVER = 8.64e15;

/** In SQL: whether a request alone has added the domain. The index `domains_on_demand` needs these very words. */
const IS_ON_DEMAND = sql<boolean>`source = 'on-demand' and last_scanned_at is not null`;
/** In SQL: whether the domain is followed, which one that was forgotten is not. */
export const isFollowed = sql<boolean>`(domains.last_scanned_at is not null or domains.source <> 'on-demand')`;

export interface ForgetOptions {
  /** Those that were last asked for, or else added, before this time. */
  readonly before: Date;
  readonly limit: number;
  readonly now: Date;
}

/** Forgets some, and gives how many. One that is being scanned waits. */
export async function forgetUnasked(tx: Transaction<Database>, { before, limit, now }: ForgetOptions): Promise<number> {
  const { rows } = await sql<{ id: number; name: string }>`
    select id, name from domains where ${IS_ON_DEMAND} and coalesce(asked_at, created_at) < ${before.getTime()}
      and (select 1 from scan_leases where domain_id = domains.id) is null
    order by coalesce(asked_at, created_at) limit ${sql.lit(limit)}`.execute(tx);
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await tx.deleteFrom('services').where('domain_id', 'in', ids).where('valid_to', 'is', null).execute();
  await tx.deleteFrom('evidence').where('domain_id', 'in', ids).execute();
  await tx
    .updateTable('domains')
    .set((eb) => ({
      ...{ last_scanned_at: null, state: null, summary: null, rulebook: null, score: null, asked_at: null },
      ...{ sector: 'unknown', measured: '', posture_bits: 0, holder_bits: 0, failures: 0, is_waiting: 0 },
      ...{ tracked_ms: 0, changes_seen: 0, next_due_at: NEVER, revision: eb('revision', '+', 1) },
    }))
    .where('id', 'in', ids)
    .execute();
  const events = rows.map(({ id, name }) => ({
    ...{ at: now.getTime(), kind: 'domain-removed' as const, domain: name },
    payload: JSON.stringify({ domainId: id } satisfies DomainRemoved),
  }));
  await tx.insertInto('events').values(events).execute();
  return rows.length;
}

/** A list or a feed names these: they are not forgotten, and those that were are due. */
export function adopting(db: Kysely<Database>, names: readonly string[], source: string): CompiledQuery<never> {
  return sql<never>`update domains set source = ${source},
      next_due_at = case when last_scanned_at is null then 0 else next_due_at end
    where source = 'on-demand' and name in (${listed(db, names)})`.compile(db);
}
