// Positions of the tables in the store's logs, from the table `blocks`: what is committed, and what is in every table.
import type { ClickHouse } from '../connection/clickhouse.ts';

/** `history`: days and migrations are being read; `domains`: domains are; `log`: complete, follows the event log. */
export type Stage = 'history' | 'domains' | 'log';

export interface Position {
  readonly storeId: string;
  readonly stage: Stage;
  /** Events and scans up to these are in the tables; in the stage `domains` only what was read with the history. */
  readonly seq: number;
  readonly scanId: number;
  /** In the stage `domains`: those up to this id are in the tables. */
  readonly domainId: number;
}

export interface BlockPosition extends Position {
  readonly block: number;
  /** Identifies the rows of the block in the journals. */
  readonly attempt: number;
  /** The highest number of a part of each table when the block was committed; empty on a cluster. */
  readonly parts: Readonly<Record<string, number>>;
}

interface BlockRow {
  readonly block: number;
  readonly attempt: number;
  readonly store_id: string;
  readonly stage: Stage;
  readonly seq: number;
  readonly scan_id: number;
  readonly domain_id: number;
  readonly parts: Readonly<Record<string, number>>;
}

/** The position of all tables; undefined before the first block. Later events may be in some of them. */
export function appliedPosition(clickhouse: Pick<ClickHouse, 'query'>): Promise<BlockPosition | undefined> {
  return lastBlock(clickhouse, 1);
}

/** The position that the tables have when the last committed block is applied. */
export function committedPosition(clickhouse: Pick<ClickHouse, 'query'>): Promise<BlockPosition | undefined> {
  return lastBlock(clickhouse, 0);
}

async function lastBlock(clickhouse: Pick<ClickHouse, 'query'>, isApplied: 0 | 1): Promise<BlockPosition | undefined> {
  const text = `SELECT block, attempt, store_id, stage, seq, scan_id, domain_id, parts FROM blocks
    WHERE is_applied = {isApplied:UInt8} ORDER BY block DESC LIMIT 1`;
  const [row] = await clickhouse.query<BlockRow>(text, { isApplied });
  if (!row) return undefined;
  const { store_id: storeId, scan_id: scanId, domain_id: domainId, ...same } = row;
  return { ...same, storeId, scanId, domainId };
}

/** Number and attempt of the last committed block; zeros without one. */
const LAST = '(SELECT (max(block), argMax(attempt, block)) FROM blocks WHERE is_applied = 0)';
const PARTS = `(SELECT CAST(mapFromArrays(groupArray(name), groupArray(number)), 'Map(String, Int64)') FROM (
  SELECT table AS name, max(max_block_number) AS number FROM system.parts WHERE database = currentDatabase() GROUP BY table))`;
/** Of a token: a server that was killed may know it although it does not have the row. */
const REPEATS = 3;

export type NewBlock = Omit<BlockPosition, 'parts'>;

/**
 * Commits a block that follows another one, undefined: the first one. Undefined if a different block followed it: another
 * exporter has taken over. Of several exporters at the same moment one succeeds, because the token has only the number of the
 * block; in tables that were removed and filled again no later one does, because the block before is another one.
 */
export function commitPosition(
  clickhouse: ClickHouse,
  block: NewBlock,
  before: Pick<BlockPosition, 'block' | 'attempt'> | undefined,
): Promise<BlockPosition | undefined> {
  return insertPosition(clickhouse, block, { isApplied: 0, last: before ?? { block: 0, attempt: 0 } });
}

/** Says that every table has the last committed block. Undefined if the last one is a different block. */
export function markApplied(clickhouse: ClickHouse, block: NewBlock): Promise<BlockPosition | undefined> {
  return insertPosition(clickhouse, block, { isApplied: 1, last: block });
}

/** Inserts a position if the last committed block is the expected one. */
async function insertPosition(
  clickhouse: ClickHouse,
  { block, attempt, storeId, stage, seq, scanId, domainId }: NewBlock,
  { isApplied, last }: { readonly isApplied: 0 | 1; readonly last: Pick<BlockPosition, 'block' | 'attempt'> },
): Promise<BlockPosition | undefined> {
  const parts = clickhouse.cluster === undefined ? PARTS : `CAST(map(), 'Map(String, Int64)')`;
  const expected = { lastBlock: last.block, lastAttempt: last.attempt };
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    const text = `INSERT INTO blocks (is_applied, block, attempt, store_id, stage, seq, scan_id, domain_id, parts)
      SETTINGS insert_deduplication_token = '${isApplied}:${block}:${repeat}'
      SELECT {isApplied:UInt8}, {block:UInt64}, {attempt:UInt64}, {storeId:String}, {stage:String}, {seq:UInt64},
        {scanId:UInt64}, {domainId:UInt32}, ${parts}
      WHERE ${LAST} = ({lastBlock:UInt64}, {lastAttempt:UInt64})`;
    const values = { isApplied, block, attempt, storeId, stage, seq, scanId, domainId, ...expected };
    await clickhouse.command(text, values);
    const found = await lastBlock(clickhouse, isApplied);
    if (found && found.block >= block) return found.block === block && found.attempt === attempt ? found : undefined;
  }
  return undefined;
}
