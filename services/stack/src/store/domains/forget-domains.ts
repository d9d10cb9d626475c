// Forgets domains that a request added and that no client has requested since: deletes the profile, open services, records and evidence.
// The domain row, confirmed changes and the services that they ended are kept, since they refer to each other; scans have their
// own retention.

import { listed } from '@strata/db';
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { DomainRemoved } from '../events/stored-event.ts';
import type { Database } from '../schema.ts';

/** Due time of a forgotten domain: the greatest time of ECMAScript. */
const NEVER = 8.64e15;

/** In SQL: whether only a request has added the domain. Must match the condition of the index `domains_on_demand`. */
const IS_ON_DEMAND = sql<boolean>`source = 'on-demand' and last_scanned_at is not null`;
/** In SQL: whether the domain is tracked, that is, not forgotten. */
export const isFollowed = sql<boolean>`(domains.last_scanned_at is not null or domains.source <> 'on-demand')`;

export interface ForgetOptions {
  /** Domains that were last requested, or else added, before this time. */
  readonly before: Date;
  readonly limit: number;
  readonly now: Date;
}

/** Forgets a batch and returns its size. Domains with a scan lease are skipped. */
export async function forgetUnasked(tx: Transaction<Database>, { before, limit, now }: ForgetOptions): Promise<number> {
  const { rows } = await sql<{ id: number; name: string }>`
    select id, name from domains where ${IS_ON_DEMAND} and coalesce(asked_at, created_at) < ${before.getTime()}
      and leased_until is null
    order by coalesce(asked_at, created_at) limit ${sql.lit(limit)}`.execute(tx);
  if (rows.length === 0) return 0;
  const ids = rows.map(({ id }) => id);
  await tx.deleteFrom('services').where('domain_id', 'in', ids).where('valid_to', 'is', null).execute();
  await tx.deleteFrom('records').where('domain_id', 'in', ids).execute();
  await tx.deleteFrom('evidence').where('domain_id', 'in', ids).execute();
  await tx
    .updateTable('domains')
    .set((eb) => ({
      ...{ last_scanned_at: null, state: null, summary: null, rulebook: null, score: null, asked_at: null },
      ...{ sector: 'unknown', measured: '', posture_bits: 0, holder_bits: 0, failures: 0, is_waiting: 0 },
      ...{
        tracked_ms: 0,
        changes_seen: 0,
        record_digest: null,
        first_scanned_at: null,
        changed_at: null,
        country: null,
      },
      ...{ next_due_at: NEVER, revision: eb('revision', '+', 1) },
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

/** Marks names as part of a list or feed: they are not forgotten, and forgotten ones become due. */
export function adopting(db: Kysely<Database>, names: readonly string[], source: string): CompiledQuery<never> {
  return sql<never>`update domains set source = ${source},
      next_due_at = case when last_scanned_at is null then 0 else next_due_at end
    where source = 'on-demand' and name in (${listed(db, names)})`.compile(db);
}
