// All migrations by number. A released migration is never changed.
import { type Kysely, sql, type Transaction } from 'kysely';
import { type Migration, type MigrationProvider, Migrator } from 'kysely/migration';
import { isPostgres } from '../db/dialects/postgres-dialect.ts';
import { isNameTaken, StoreError } from '../db/store-error.ts';
import type { Database } from '../schema.ts';
import { up as initial } from './001-initial.ts';
import { up as setsAndStreams } from './002-sets-and-streams.ts';
import { up as changesByCategory } from './003-changes-by-category.ts';
import { up as answers } from './004-answers.ts';
import { up as advisories } from './005-advisories.ts';
import { up as feeds } from './006-feeds.ts';
import { up as segments } from './007-segments.ts';
import { up as keyPriority } from './008-key-priority.ts';
import { up as segmentProofs } from './009-segment-proofs.ts';
import { up as changesByConfirmation } from './010-changes-by-confirmation.ts';
import { up as scanWork } from './011-scan-work.ts';
import { up as counters } from './012-counters.ts';
import { up as ledger } from './013-ledger.ts';
import { up as reportViews } from './014-report-views.ts';
import { up as dayCounts } from './015-day-counts.ts';
import { up as onDemand } from './016-on-demand.ts';
import { up as changesBetween } from './017-changes-between.ts';
import { up as advisoryCounts } from './018-advisory-counts.ts';

const migrations: Readonly<Record<string, Migration>> = {
  '001-initial': { up: initial },
  '002-sets-and-streams': { up: setsAndStreams },
  '003-changes-by-category': { up: changesByCategory },
  '004-answers': { up: answers },
  '005-advisories': { up: advisories },
  '006-feeds': { up: feeds },
  '007-segments': { up: segments },
  '008-key-priority': { up: keyPriority },
  '009-segment-proofs': { up: segmentProofs },
  '010-changes-by-confirmation': { up: changesByConfirmation },
  '011-scan-work': { up: scanWork },
  '012-counters': { up: counters },
  '013-ledger': { up: ledger },
  '014-report-views': { up: reportViews },
  '015-day-counts': { up: dayCounts },
  '016-on-demand': { up: onDemand },
  '017-changes-between': { up: changesBetween },
  '018-advisory-counts': { up: advisoryCounts },
};
/** The format of migration names. */
const OURS = /^\d{3}-[a-z-]+$/;

/** Without the statement time-out on PostgreSQL: an index over a long history takes minutes. */
const unlimited = ({ up }: Migration): Migration => ({
  async up(db) {
    if (isPostgres(db)) await sql`set local statement_timeout = 0`.execute(db);
    await up(db);
  },
});
const provider: MigrationProvider = {
  getMigrations: async () =>
    Object.fromEntries(Object.entries(migrations).map(([name, migration]) => [name, unlimited(migration)])),
};

/** Upgrades the schema in one transaction, one process at a time. Throws StoreError `newer-version` if it was written by a later version. */
export async function migrate(db: Kysely<Database>): Promise<void> {
  await run(db, (migrator) => migrator.migrateToLatest());
}

/** Upgrades the schema to a migration within a transaction. Throws StoreError `newer-version` if the migration is unknown. */
export async function migrateTo(tx: Transaction<Database>, name: string): Promise<void> {
  if (!isKnownSchema(name))
    throw new StoreError('newer-version', { cause: new Error(`the migration ${name} is unknown`) });
  await run(tx, (migrator) => migrator.migrateTo(name));
}

/** All migration names, in order. */
export const MIGRATIONS: readonly string[] = Object.keys(migrations);
export const LATEST_SCHEMA = MIGRATIONS.at(-1) ?? '';

/** Whether this version has the migration. */
export const isKnownSchema = (name: string): boolean => Object.hasOwn(migrations, name);

async function run(
  db: Kysely<Database>,
  work: (migrator: Migrator) => Promise<{ readonly error?: unknown }>,
): Promise<void> {
  // Restricted to our schema: other schemas of the database may have their own migrations and stores.
  const schema = isPostgres(db) ? await currentSchema(db) : undefined;
  const migrator = new Migrator({ db, provider, ...(schema ? { migrationTableSchema: schema } : {}) });
  const { error } = await work(migrator);
  if (error === undefined) return;
  if (error instanceof StoreError) throw error;
  // Kysely reports an executed migration that is unknown: it is of a later version, or of another program.
  const missing = error instanceof Error ? /executed migration (\S+) is missing/.exec(error.message)?.[1] : undefined;
  if (missing !== undefined && OURS.test(missing)) throw new StoreError('newer-version', { cause: error });
  if (missing !== undefined || isNameTaken(error))
    throw new StoreError(isPostgres(db) ? 'names-taken' : 'not-a-database', { cause: error });
  throw new Error('bring the database schema up to date', { cause: error });
}

async function currentSchema(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db);
  if (rows[0]?.name) return rows[0].name;
  throw new StoreError('no-database', { cause: new Error('the search path contains no existing schema') });
}
