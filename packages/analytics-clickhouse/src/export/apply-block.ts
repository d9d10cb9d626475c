// One block of the export, exactly once: its rows go to the journals, then its position is committed by one row, then each table
// takes its rows from the journals under a token. After a crash a committed block is applied again, and a table that has it
// ignores it; rows in the journals without a committed position are never read.
import type { ClickHouse } from '../connection/clickhouse.ts';
import { JOURNAL_BLOCKS, JOURNALS } from '../tables/tables.ts';
import { FAN_OUT } from './fan-out.ts';
import { appliedPosition, type BlockPosition, committedPosition, insertPosition, type Position } from './position.ts';

/** Rows by table; see `JOURNALED`. */
export type BlockRows = Readonly<Partial<Record<JournalName, readonly Readonly<Record<string, unknown>>[]>>>;
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
  readonly #block: number;
  readonly #attempt: number;
  readonly #journals = new Set<JournalName>();

  /** `block`: the number of the last block plus one. `random`: 0 to 1, as Math.random. */
  constructor(clickhouse: ClickHouse, block: number, random: () => number = Math.random) {
    this.#clickhouse = clickhouse;
    this.#block = block;
    this.#attempt = Math.floor(random() * MAX_ATTEMPT);
  }

  async add(rows: BlockRows): Promise<void> {
    for (const [name, of = []] of Object.entries(rows) as [JournalName, BlockRows[JournalName]][]) {
      if (of.length === 0) continue;
      this.#journals.add(name);
      const numbered = of.map((row) => ({ block: this.#block, attempt: this.#attempt, ...row }));
      await this.#clickhouse.insert(`journal_${name}`, numbered);
    }
  }

  /** Rejects with TakenOver if another exporter has committed a block in the meantime. */
  async commit(position: Position): Promise<BlockPosition> {
    const committed = { ...position, block: this.#block, attempt: this.#attempt };
    if (!(await insertPosition(this.#clickhouse, committed, 0))) throw new TakenOver('another process exports');
    await applyCommitted(this.#clickhouse, committed, this.#journals);
    return committed;
  }
}

/** Finishes the block that an earlier exporter committed, if it did not; returns the position of the tables. */
export async function finishLastBlock(clickhouse: ClickHouse): Promise<BlockPosition | undefined> {
  const committed = await committedPosition(clickhouse);
  if (!committed) return undefined;
  const applied = await appliedPosition(clickhouse);
  if (applied?.block !== committed.block) await applyCommitted(clickhouse, committed);
  return committed;
}

/** A journal without rows of the block may be skipped. */
async function applyCommitted(
  clickhouse: ClickHouse,
  committed: BlockPosition,
  journals: ReadonlySet<string> = new Set(Object.keys(FAN_OUT)),
): Promise<void> {
  const { block, attempt } = committed;
  for (const [journal, inserts] of Object.entries(FAN_OUT)) {
    if (!journals.has(journal)) continue;
    for (const { table, columns, select } of inserts) {
      // One block of the server, because it has one token; and no limit of memory but that of the server.
      const text = `INSERT INTO ${table} (${columns.join(', ')})
        SETTINGS insert_deduplication_token = '${block}:${attempt}:${table}', min_insert_block_size_rows = 1000000000,
          min_insert_block_size_bytes = 0, max_insert_threads = 1, distributed_foreground_insert = 1
        ${select}`;
      await clickhouse.command(text, { block, attempt }, { timeoutMs: APPLY_TIMEOUT_MS });
    }
  }
  if (!(await insertPosition(clickhouse, committed, 1))) throw new TakenOver('another process exports');
  if (block % JOURNAL_BLOCKS === 0) await dropJournals(clickhouse, block);
}

/** Drops the partitions of the journals whose blocks are applied. */
async function dropJournals(clickhouse: ClickHouse, block: number): Promise<void> {
  const current = Math.floor(block / JOURNAL_BLOCKS);
  const { cluster } = clickhouse;
  for (const { name } of JOURNALS) {
    const text = `SELECT DISTINCT intDiv(block, ${JOURNAL_BLOCKS}) AS old FROM ${name} WHERE old < {current:UInt64}`;
    const rows = await clickhouse.query<{ readonly old: number }>(text, { current });
    const table = cluster === undefined ? name : `${name}_local ON CLUSTER '${cluster}'`;
    for (const { old } of rows) await clickhouse.command(`ALTER TABLE ${table} DROP PARTITION ${Number(old)}`);
  }
}
