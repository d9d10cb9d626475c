// One block of the export, exactly once: its rows go to the journals, then its position is committed by one row, then each table
// takes its rows from the journals under a token. After a crash a committed block is applied again, and a table that has it
// ignores it; rows in the journals without a committed position are never read.
import { DAY_MS } from '@strata/analytics';
import type { ClickHouse } from '../connection/clickhouse.ts';
import { JOURNAL_BLOCKS, JOURNALS, MIGRATION_DAYS, MIGRATION_MONTH } from '../tables/tables.ts';
import { FAN_OUT, type TableInsert } from './fan-out.ts';
import {
  appliedPosition,
  type BlockPosition,
  commitPosition,
  committedPosition,
  markApplied,
  type Position,
} from './position.ts';

/** Rows by table; see `JOURNALED`. They are read once. */
export type BlockRows = Readonly<Partial<Record<JournalName, Iterable<Row>>>>;
type Row = Readonly<Record<string, unknown>>;
export type JournalName = 'domains' | 'times' | 'change_days' | 'migrations' | 'scan_days';

/** Another process exports into these tables. */
export class TakenOver extends Error {
  override readonly name = 'TakenOver';
}

/** The largest number of a statement: the journal of a large block may take minutes. */
const APPLY_TIMEOUT_MS = 600_000;
const MAX_ATTEMPT = 2 ** 48;

/** A block that is being written; `add` any number of times, then `commit`. Nothing is in the tables before `commit`. */
export class BlockWriter {
  readonly #clickhouse: ClickHouse;
  readonly #before: BlockPosition | undefined;
  readonly #block: number;
  readonly #attempt: number;
  readonly #journals = new Set<JournalName>();

  /** `before`: the last block, undefined without one. `random`: 0 to 1, as Math.random. */
  constructor(clickhouse: ClickHouse, before: BlockPosition | undefined, random: () => number = Math.random) {
    this.#clickhouse = clickhouse;
    this.#before = before;
    this.#block = (before?.block ?? 0) + 1;
    this.#attempt = Math.floor(random() * MAX_ATTEMPT);
  }

  async add(rows: BlockRows): Promise<void> {
    for (const [name, of] of Object.entries(rows) as [JournalName, Iterable<Row>][])
      await this.#clickhouse.insert(`journal_${name}`, this.#numbered(name, of));
  }

  *#numbered(name: JournalName, rows: Iterable<Row>): Generator<Row> {
    for (const row of rows) {
      this.#journals.add(name);
      yield { block: this.#block, attempt: this.#attempt, ...row };
    }
  }

  /** Rejects with TakenOver if another exporter has committed a block in the meantime, or removed the tables. */
  async commit(position: Position): Promise<BlockPosition> {
    const block = { ...position, block: this.#block, attempt: this.#attempt };
    const committed = await commitPosition(this.#clickhouse, block, this.#before);
    if (!committed) throw new TakenOver('another process exports');
    for (const { table, text } of statementsOf(committed, this.#journals))
      await this.#clickhouse.command(text(table), numbersOf(committed), { timeoutMs: APPLY_TIMEOUT_MS });
    await finish(this.#clickhouse, committed);
    return committed;
  }
}

/** Finishes the block that an earlier exporter committed, if it did not; returns the position of the tables. */
export async function finishLastBlock(clickhouse: ClickHouse): Promise<BlockPosition | undefined> {
  const committed = await committedPosition(clickhouse);
  if (!committed) return undefined;
  const applied = await appliedPosition(clickhouse);
  if (applied?.block === committed.block && applied.attempt === committed.attempt) return committed;
  for (const statement of statementsOf(committed)) await repeatInsert(clickhouse, committed, statement);
  await finish(clickhouse, committed);
  return committed;
}

/** Of a block on a single server, after its token did not insert anything. */
const REPEATS = 3;

/**
 * Repeats the insert of a block into a table that may have it. A single server writes its list of tokens before the part, and
 * without a sync: after a kill it may have the token without the part, and after a loss of power the part without the token.
 * The numbers of the parts decide. Replicas write both in one transaction of Keeper.
 */
async function repeatInsert(
  clickhouse: ClickHouse,
  committed: BlockPosition,
  { table, text }: Statement,
): Promise<void> {
  // An insert into several partitions is several parts: only their tokens distinguish them.
  const hasParts = clickhouse.cluster === undefined && table !== 'migrations';
  const isThere = async (): Promise<boolean> => {
    const query = `SELECT max(max_block_number) AS number FROM system.parts
      WHERE database = currentDatabase() AND table = {table:String}`;
    const [last] = await clickhouse.query<{ readonly number: number }>(query, { table });
    return (last?.number ?? 0) > (committed.parts[table] ?? 0);
  };
  for (let repeat = 0; repeat < (hasParts ? REPEATS : 1); repeat += 1) {
    if (hasParts && (await isThere())) return;
    const token = repeat === 0 ? table : `${table}:${repeat}`;
    await clickhouse.command(text(token), numbersOf(committed), { timeoutMs: APPLY_TIMEOUT_MS });
  }
}

interface Statement {
  readonly table: string;
  /** The statement, with the end of its token. */
  readonly text: (token: string) => string;
}

const numbersOf = ({ block, attempt }: BlockPosition) => ({ block, attempt });

/** The inserts of a block; a journal without rows of it may be skipped. */
function statementsOf(
  { block, attempt }: BlockPosition,
  journals: ReadonlySet<string> = new Set(Object.keys(FAN_OUT)),
): Statement[] {
  const inserts = Object.entries(FAN_OUT).flatMap(([journal, of]) => (journals.has(journal) ? of : []));
  return inserts.map(({ table, columns, select }: TableInsert) => ({
    table,
    // One block of the server, because it has one token; and no limit of memory but that of the server. Merges sum equal
    // rows: to do it here too takes three quarters of the time of an insert.
    text: (token) => `INSERT INTO ${table} (${columns.join(', ')})
      SETTINGS insert_deduplication_token = '${block}:${attempt}:${token}', min_insert_block_size_rows = 1000000000,
        min_insert_block_size_bytes = 0, max_insert_threads = 1, optimize_on_insert = 0, distributed_foreground_insert = 1,
        max_execution_time = ${APPLY_TIMEOUT_MS / 1_000}
      ${select}`,
  }));
}

async function finish(clickhouse: ClickHouse, committed: BlockPosition): Promise<void> {
  if (!(await markApplied(clickhouse, committed))) throw new TakenOver('another process exports');
  if (committed.block % JOURNAL_BLOCKS === 0) await dropOld(clickhouse, committed.block);
}

/** Drops the partitions of the journals whose blocks are applied, and those of migrations long before the last one. */
async function dropOld(clickhouse: ClickHouse, block: number): Promise<void> {
  const number = `intDiv(block, ${JOURNAL_BLOCKS})`;
  for (const { name } of JOURNALS)
    await dropBefore(clickhouse, { name, number, first: `${Math.floor(block / JOURNAL_BLOCKS)}` });
  const newest = `(SELECT max(confirmed_at) FROM migrations) - ${MIGRATION_DAYS * DAY_MS}`;
  const first = MIGRATION_MONTH.replace('confirmed_at', newest);
  await dropBefore(clickhouse, { name: 'migrations', number: MIGRATION_MONTH, first });
}

interface Partitions {
  readonly name: string;
  /** Expressions: the number of a row's partition, and of the first that is kept. */
  readonly number: string;
  readonly first: string;
}

async function dropBefore(clickhouse: ClickHouse, { name, number, first }: Partitions): Promise<void> {
  const { cluster } = clickhouse;
  const text = `SELECT DISTINCT ${number} AS old FROM ${name} WHERE old < ${first}`;
  const table = cluster === undefined ? name : `${name}_local ON CLUSTER '${cluster}'`;
  for (const { old } of await clickhouse.query<{ readonly old: number }>(text))
    await clickhouse.command(`ALTER TABLE ${table} DROP PARTITION ${Number(old)}`);
}
