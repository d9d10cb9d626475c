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
}

interface BlockRow {
  readonly block: number;
  readonly attempt: number;
  readonly store_id: string;
  readonly stage: Stage;
  readonly seq: number;
  readonly scan_id: number;
  readonly domain_id: number;
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
  const text = `SELECT block, attempt, store_id, stage, seq, scan_id, domain_id FROM blocks
    WHERE is_applied = {isApplied:UInt8} ORDER BY block DESC LIMIT 1`;
  const [row] = await clickhouse.query<BlockRow>(text, { isApplied });
  if (!row) return undefined;
  const { store_id: storeId, scan_id: scanId, domain_id: domainId, ...same } = row;
  return { ...same, storeId, scanId, domainId };
}

/**
 * Inserts the position of a block, unless a block that is not before it is there: another exporter has taken over. Returns
 * whether it is there.
 */
export async function insertPosition(
  clickhouse: ClickHouse,
  { block, attempt, storeId, stage, seq, scanId, domainId }: BlockPosition,
  isApplied: 0 | 1,
): Promise<boolean> {
  const text = `INSERT INTO blocks (is_applied, block, attempt, store_id, stage, seq, scan_id, domain_id)
    SELECT {isApplied:UInt8}, {block:UInt64}, {attempt:UInt64}, {storeId:String}, {stage:String}, {seq:UInt64},
      {scanId:UInt64}, {domainId:UInt32}
    WHERE (SELECT max(block) FROM blocks WHERE is_applied = {isApplied:UInt8}) < {block:UInt64}`;
  await clickhouse.command(text, { isApplied, block, attempt, storeId, stage, seq, scanId, domainId });
  const last = await lastBlock(clickhouse, isApplied);
  return last?.block === block && last.attempt === attempt;
}
