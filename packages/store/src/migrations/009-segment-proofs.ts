// An index of segments that still have their proof: old proofs are deleted in batches, without visiting those already deleted.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index segments_proved on segments (ended_at) where length(receipt) > 0`.execute(db);
}
