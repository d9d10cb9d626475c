// The receiver of each message, so that a slow one delays no other.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  const receiver = db.schema.alterTable('watchlist_deliveries').addColumn('receiver', 'text', (column) => {
    return column.notNull().defaultTo('');
  });
  await receiver.execute();
  await db.schema.dropIndex('watchlist_deliveries_due').execute();
  // All that the selection of due messages compares: those of busy receivers are skipped within the index.
  const columns = sql`(due_at, id, receiver, watchlist_id)`;
  await sql`create index watchlist_deliveries_due on watchlist_deliveries ${columns} where state = 'pending'`.execute(
    db,
  );
}
