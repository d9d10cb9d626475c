// Counters of advisories, records by source and scores, which would otherwise be counted over all rows.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`insert into counters (name, value)
    select 'advisory-rows', count(*) from advisories having count(*) > 0
    union all select 'score-rows', count(*) from exploit_scores having count(*) > 0
    union all select 'record-rows ' || source, count(*) from advisory_records group by source`.execute(db);
}
