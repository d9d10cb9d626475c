// Which segments have their proof still: old ones are forgotten a batch at a time, without looking at those forgotten before.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index segments_proved on segments (ended_at) where length(receipt) > 0`.execute(db);
}
