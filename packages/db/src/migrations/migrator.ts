// Brings the schema of a store up to date: the migrations of its service, in order, in one transaction.
import { type Kysely, sql, type Transaction } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { isPostgres } from '../dialects/postgres-dialect.ts';
import { isNameTaken, StoreError } from '../store-error.ts';

/** By name, in order. A released migration is never changed. */
export type Migrations = Readonly<Record<string, Migration['up']>>;

/** The format of migration names. */
const OURS = /^\d{3}-[a-z-]+$/;

/**
 * Upgrades the schema in one transaction, one process at a time. Rejects with StoreError `newer-version` if it was written by a
 * later version, and `names-taken` or `not-a-database` if by another service or program.
 */
export async function migrate<Tables>(db: Kysely<Tables>, migrations: Migrations): Promise<void> {
  if (await isCurrent(db, migrations)) return;
  await run(db, migrations, (migrator) => migrator.migrateToLatest());
}

/** Asks without the lock of migrations: it is one of a session, which a pooler in transaction mode cannot hold. */
async function isCurrent<Tables>(db: Kysely<Tables>, migrations: Migrations): Promise<boolean> {
  const schema = isPostgres(db) ? [await currentSchema(db)] : [];
  const applied = sql<{ name: string }>`select name from ${sql.id(...schema, DEFAULT_MIGRATION_TABLE)}`;
  // A database without this table, or that cannot be read, is for the migrator to report.
  const rows = await applied.execute(db).then(
    (result) => result.rows,
    () => [],
  );
  const names = rows.map(({ name }) => name);
  return compareSchema(names, migrations) === 'current';
}

/** Upgrades the schema to a migration within a transaction. Rejects with StoreError `newer-version` if it is unknown. */
export async function migrateTo<Tables>(tx: Transaction<Tables>, migrations: Migrations, name: string): Promise<void> {
  if (!Object.hasOwn(migrations, name))
    throw new StoreError('newer-version', { cause: new Error(`the migration ${name} is unknown`) });
  await run(tx, migrations, (migrator) => migrator.migrateTo(name));
}

/** The name of the newest schema. */
export const latestOf = (migrations: Migrations): string => Object.keys(migrations).at(-1) ?? '';

/** `older`: the next start upgrades it; `newer`: of a later version; `foreign`: of another service, or of another program. */
export type SchemaState = 'empty' | 'older' | 'current' | 'newer' | 'foreign';

/** Compares the names of the migrations that a database has with those of a service. */
export function compareSchema(applied: readonly string[], migrations: Migrations): SchemaState {
  const unknown = applied.toSorted().find((name) => !Object.hasOwn(migrations, name));
  if (unknown !== undefined)
    return OURS.test(unknown) && numberOf(unknown) > numberOf(latestOf(migrations)) ? 'newer' : 'foreign';
  if (applied.length === 0) return 'empty';
  return applied.length < Object.keys(migrations).length ? 'older' : 'current';
}

async function run<Tables>(
  db: Kysely<Tables>,
  migrations: Migrations,
  work: (migrator: Migrator) => Promise<{ readonly error?: unknown }>,
): Promise<void> {
  // Restricted to our schema: other schemas of the database may have their own migrations and stores.
  const schema = isPostgres(db) ? await currentSchema(db) : undefined;
  const provider = { getMigrations: async () => providedOf(migrations) };
  const migrator = new Migrator({ db, provider, ...(schema ? { migrationTableSchema: schema } : {}) });
  const { error } = await work(migrator);
  if (error === undefined) return;
  if (error instanceof StoreError) throw error;
  // Kysely reports an executed migration that is unknown.
  const missing = error instanceof Error ? /executed migration (\S+) is missing/.exec(error.message)?.[1] : undefined;
  if (missing !== undefined && compareSchema([missing], migrations) === 'newer')
    throw new StoreError('newer-version', { cause: error });
  if (missing !== undefined || isNameTaken(error)) {
    const isNamed = isPostgres(db) || (missing !== undefined && OURS.test(missing));
    throw new StoreError(isNamed ? 'names-taken' : 'not-a-database', { cause: error });
  }
  throw new Error('bring the database schema up to date', { cause: error });
}

const numberOf = (name: string) => Number(name.slice(0, 3));

/** Without the statement time-out on PostgreSQL: an index over a long history takes minutes. */
function providedOf(migrations: Migrations): Record<string, Migration> {
  const unlimited = (up: Migration['up']): Migration => ({
    async up(db) {
      if (isPostgres(db)) await sql`set local statement_timeout = 0`.execute(db);
      await up(db);
    },
  });
  return Object.fromEntries(Object.entries(migrations).map(([name, up]) => [name, unlimited(up)]));
}

async function currentSchema<Tables>(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ name: string | null }>`select current_schema() as name`.execute(db);
  if (rows[0]?.name) return rows[0].name;
  throw new StoreError('no-database', { cause: new Error('the search path contains no existing schema') });
}
