// The migrations of the gateway by number. A released migration is never changed.
import {
  addKeyPriority,
  createCounters,
  createKeyTables,
  createSettings,
  createTable,
  dropForeignTables,
  type InspectedSchema,
  isPostgres,
  type Migrations,
  type TableOptions,
  withOldNames,
} from '@strata/db';
import { createLedgerTables } from '@strata/log';
import { createSegments, indexSegmentProofs } from '@strata/segments';
import { type Kysely, sql } from 'kysely';

const TABLES = [
  ...['settings', 'counters', 'api_keys', 'quota_usage'],
  ...['answer_receipts', 'token_usage', 'segments', 'standings'],
];

export const migrations: Migrations = withOldNames({
  async '001-initial'(db) {
    await createKeyTables(db);
    await createSettings(db);
  },
  '004-answers': createAnswers,
  async '007-segments'(db) {
    await createSegments(db);
    await createReputations(db);
  },
  '008-key-priority': addKeyPriority,
  '009-segment-proofs': indexSegmentProofs,
  '012-counters': createCounters,
  '019-gateway-tables': (db) => dropForeignTables(db, TABLES),
  async '020-begun-answers'(db) {
    await createTable(db, 'begun_answers', { isClustered: true })
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .execute();
  },
  '021-gateways': createGateways,
  async '022-token-reservations'(db) {
    await createTable(db, 'token_reservations')
      .addColumn('key_id', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('gateway', 'integer', (column) => column.notNull())
      .addColumn('tokens', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('token_reservations_key', ['key_id', 'day', 'gateway'])
      .execute();
  },
  async '023-reputation-revisions'(db) {
    await db.schema
      .alterTable('standings')
      .addColumn('revision', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
  },
  async '024-gateway-addresses'(db) {
    await db.schema.alterTable('gateways').addColumn('addresses', 'text').execute();
  },
  '025-stored-answers': createStoredAnswers,
  '026-access': createAccess,
  async '027-usage-days'(db) {
    await db.schema.createIndex('token_usage_day').on('token_usage').column('day').execute();
  },
  async '028-account-usage'(db) {
    await createTable(db, 'account_usage', { isClustered: true })
      .addColumn('account', 'text', (column) => column.notNull())
      .addColumn('day', 'text', (column) => column.notNull())
      .addColumn('used', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('account_usage_key', ['account', 'day'])
      .execute();
    await db.schema.createIndex('api_keys_created').on('api_keys').columns(['created_at', 'id']).execute();
  },
  async '029-minute-usage'(db) {
    await createTable(db, 'minute_usage', { isClustered: true })
      .addColumn('account', 'text', (column) => column.primaryKey())
      .addColumn('full_at', 'integer', (column) => column.notNull())
      .execute();
  },
  '030-stored-answer-parts': replaceStoredAnswerParts,
});

export const gatewaySchema: InspectedSchema = { migrations, counted: 'api_keys' };

async function createAnswers(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'answer_receipts', { id: 'generated', key: 'seq' })
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .execute();

  await createTable(db, 'token_usage')
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('day', 'text', (column) => column.notNull())
    .addColumn('model', 'text', (column) => column.notNull())
    .addColumn('requests', 'integer', (column) => column.notNull())
    .addColumn('prompt_tokens', 'integer', (column) => column.notNull())
    .addColumn('cached_tokens', 'integer', (column) => column.notNull())
    .addColumn('completion_tokens', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('token_usage_key', ['key_id', 'day', 'model'])
    .execute();
}

/** Records of earlier versions belong to gateway 0, which has ended: the first gateway that starts settles them. */
async function createGateways(db: Kysely<unknown>): Promise<void> {
  await createLedgerTables(db);
  await createTable(db, 'gateways')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('settler', 'integer', (column) => column.notNull())
    .addColumn('heartbeat', 'integer', (column) => column.notNull())
    .addColumn('entered', 'integer', (column) => column.notNull())
    .execute();
  await sql`insert into gateways (id, settler, heartbeat, entered) values (0, 0, 0,
    coalesce((select cast(value as bigint) from settings where name = 'answers-entered'), 0))`.execute(db);
  for (const table of ['answer_receipts', 'begun_answers'])
    await db.schema
      .alterTable(table)
      .addColumn('gateway', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
}

async function createStoredAnswers(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'stored_answers', { isClustered: true })
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('receipt_id', 'text', (column) => column.notNull().unique())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'integer', (column) => column.notNull())
    .addColumn('size', 'integer', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('stored_answers_key').on('stored_answers').column('key_id').execute();
  await createStoredAnswerParts(db, 'stored_answer_parts', { isClustered: true });
}

async function createStoredAnswerParts(db: Kysely<unknown>, name: string, options: TableOptions): Promise<void> {
  await createTable(db, name, options)
    .addColumn('answer', 'text', (column) => column.notNull())
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('stored_answer_parts_key', ['answer', 'number'])
    .execute();
}

/** SQLite gives rows of more than a kilobyte a page of their own where they are stored in the order of their key. */
async function replaceStoredAnswerParts(db: Kysely<unknown>): Promise<void> {
  if (isPostgres(db)) return;
  await createStoredAnswerParts(db, 'new_stored_answer_parts', {});
  await sql`insert into new_stored_answer_parts select answer, number, body from stored_answer_parts`.execute(db);
  await db.schema.dropTable('stored_answer_parts').execute();
  await db.schema.alterTable('new_stored_answer_parts').renameTo('stored_answer_parts').execute();
}

/** Policies of keys and teams, prices of models, spending, and the log of administration. */
async function createAccess(db: Kysely<unknown>): Promise<void> {
  for (const [name, type] of Object.entries(KEY_COLUMNS))
    await db.schema.alterTable('api_keys').addColumn(name, type).execute();
  for (const name of ['team', 'previous_hash'])
    await db.schema.createIndex(`api_keys_${name}`).on('api_keys').column(name).execute();
  await db.schema
    .alterTable('token_usage')
    .addColumn('spend', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await createTable(db, 'teams')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('policy', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .execute();
  await createTable(db, 'model_prices')
    .addColumn('model', 'text', (column) => column.primaryKey())
    .addColumn('price', 'text', (column) => column.notNull())
    .execute();
  await createTable(db, 'admin_actions', { id: 'generated', key: 'seq' })
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('before', 'text')
    .addColumn('after', 'text')
    .execute();
}

const KEY_COLUMNS = { team: 'text', policy: 'text', previous_hash: 'text', previous_until: 'integer' } as const;

async function createReputations(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'standings')
    .addColumn('peer', 'text', (column) => column.primaryKey())
    .addColumn('standing', 'text', (column) => column.notNull())
    .execute();
}
