// Fills the tables with the world: its rows go to the exporter's journals by SQL, and the exporter's own blocks take them from there.
import { type BlockPosition, BlockWriter, type ClickHouse, createTables } from '@strata/analytics-clickhouse';
import { changeDaysOf, domainsOf, migrationsOf, scanDaysOf, timesOf } from './world-sql.ts';

interface Piece extends Record<string, unknown> {
  readonly block: number;
  readonly attempt: number;
  readonly from: number;
  readonly count: number;
}

const ROWS: Readonly<Record<string, (piece: Piece) => string>> = {
  journal_domains: ({ from, count }) => domainsOf(from, count),
  journal_times: ({ from, count }) => timesOf(from, count),
  journal_migrations: ({ from, count }) => migrationsOf(from, count),
  journal_change_days: ({ count }) => changeDaysOf(count),
  journal_scan_days: ({ count }) => scanDaysOf(count),
};

/** ClickHouse whose inserts into journals insert the rows of a piece of the world. */
function generating(clickhouse: ClickHouse): ClickHouse {
  const insert: ClickHouse['insert'] = async (table, rows) => {
    for (const row of rows as Iterable<Piece>) {
      const select = ROWS[table]?.(row);
      if (select === undefined) throw new Error(`no rows of ${table}`);
      await clickhouse.command(
        `INSERT INTO ${table} SELECT ${row.block}, ${row.attempt}, * FROM (${select})`,
        {},
        { timeoutMs: 3_600_000 },
      );
    }
  };
  return { ...clickhouse, insert };
}

/** Ids from 1. Each block is as one of the exporter, of so many domains. */
export async function fill(
  clickhouse: ClickHouse,
  {
    domains,
    blockDomains,
    progress,
  }: {
    readonly domains: number;
    readonly blockDomains: number;
    readonly progress: (done: number, of: { readonly journalMs: number; readonly applyMs: number }) => void;
  },
): Promise<void> {
  await createTables(clickhouse);
  const source = generating(clickhouse);
  let last: BlockPosition | undefined;
  const history = new BlockWriter(source, last);
  await history.add({ change_days: [{ from: 1, count: domains }], scan_days: [{ from: 1, count: domains }] });
  last = await history.commit({ storeId: 'bench', stage: 'domains', seq: 0, scanId: 0, domainId: 0 });
  for (let from = 1; from <= domains; from += blockDomains) {
    const piece = { from, count: Math.min(blockDomains, domains + 1 - from) };
    const startedAt = performance.now();
    const block = new BlockWriter(source, last);
    await block.add({ domains: [piece], times: [piece], migrations: [piece] });
    const writtenAt = performance.now();
    const domainId = from + piece.count - 1;
    last = await block.commit({
      storeId: 'bench',
      stage: domainId === domains ? 'log' : 'domains',
      seq: 0,
      scanId: 0,
      domainId,
    });
    progress(domainId, { journalMs: writtenAt - startedAt, applyMs: performance.now() - writtenAt });
  }
}
