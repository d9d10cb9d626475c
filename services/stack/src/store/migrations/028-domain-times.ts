// When each domain was first measured, and when its last change was confirmed. Of a domain whose first scans were deleted, the
// first kept scan or service counts.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['first_scanned_at', 'changed_at'])
    await db.schema.alterTable('domains').addColumn(column, 'integer').execute();
  await sql`update domains set first_scanned_at = coalesce((
      select observed_at from scans where scans.domain_id = domains.id and scans.state <> 'unmeasured'
      order by started_at limit 1
    ), last_scanned_at) where last_scanned_at is not null`.execute(db);
  await sql`update domains set first_scanned_at = began.at
    from (select domain_id, min(valid_from) as at from services group by domain_id) as began
    where began.domain_id = domains.id and began.at < domains.first_scanned_at`.execute(db);
  await sql`update domains set changed_at = changed.at
    from (select domain_id, max(confirmed_at) as at from changes where type <> 'reclassified' group by domain_id) as changed
    where changed.domain_id = domains.id and domains.last_scanned_at is not null`.execute(db);
}
