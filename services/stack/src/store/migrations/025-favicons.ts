// Scans until now did not measure favicons: what the next one finds is not a change.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`insert into records (domain_id, kind, value, first_seen)
    select id, 'favicon', '', last_scanned_at from domains
    where record_digest is not null and last_scanned_at is not null`.execute(db);
}
