// Estimated sizes of tables and their growth, from statistics: no table is read.
import { sql, type Transaction } from 'kysely';
import { isPostgres } from '../dialects/postgres-dialect.ts';
import type { SizedTables } from '../store-schema.ts';
import type { Connection, SizeTables } from '../tables.ts';

export interface TableSize {
  readonly table: string;
  /** Estimated. On SQLite, the distance between the first and the last number. */
  readonly rows: number;
  /** Including indexes; null on SQLite, where only reading the file would show it. */
  readonly bytes: number | null;
}

export interface TableGrowth extends TableSize {
  /** Added rows a day over the last week; null with fewer than two recorded sizes. */
  readonly rowsPerDay: number | null;
}

const DAY_MS = 86_400_000;
/** Growth is shown over a week; older records are deleted. */
const KEPT_DAYS = 8;

/** Read-only SQL that returns rows of `TableSize`, for any connection. */
export function sizesSql(sized: SizedTables, isOnPostgres: boolean): string {
  if (isOnPostgres) {
    const names = Object.keys(sized).map((name) => `'${name}'`);
    return `select c.relname as "table", coalesce(s.n_live_tup, 0) as "rows", pg_total_relation_size(c.oid) as bytes
      from pg_class c left join pg_stat_all_tables s on s.relid = c.oid
      where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname in (${names.join(', ')})
      order by c.relname`;
  }
  const sizes = Object.entries(sized).flatMap(([name, first]) =>
    first === false
      ? []
      : `select '${name}' as "table", null as bytes,
      coalesce((select max(rowid) from ${name}) - ${first ?? `(select min(rowid) from ${name})`} + 1, 0) as "rows"`,
  );
  return sizes.join(' union all ');
}

export interface NotedSize extends Pick<TableSize, 'table' | 'rows'> {
  /** Days since the epoch. */
  readonly day: number;
}

/** Read-only SQL that returns rows of `NotedSize`, by table and day. */
export const NOTED_SQL = `select table_name as "table", day, table_rows as "rows" from table_sizes order by table_name, day`;

export async function readSizes(db: Connection<SizeTables>, sized: SizedTables): Promise<TableSize[]> {
  const { rows } = await sql.raw<TableSize>(sizesSql(sized, isPostgres(db))).execute(db);
  return rows.map((row) => ({ ...row }));
}

/** Records the sizes once a day. */
export async function recordSizes(tx: Transaction<SizeTables>, sized: SizedTables, now: Date): Promise<void> {
  const day = Math.floor(now.getTime() / DAY_MS);
  const noted = await tx.selectFrom('table_sizes').where('day', '=', day).limit(1).select('day').executeTakeFirst();
  if (noted) return;
  const sizes = (await readSizes(tx, sized)).map(({ table, rows }) => ({ day, table_name: table, table_rows: rows }));
  await tx.insertInto('table_sizes').values(sizes).execute();
  await tx
    .deleteFrom('table_sizes')
    .where('day', '<', day - KEPT_DAYS)
    .execute();
}

/** The growth of tables, from the rows of `NOTED_SQL`. */
export function growthOf(sizes: readonly TableSize[], noted: readonly NotedSize[]): TableGrowth[] {
  return sizes.map((size) => {
    const of = noted.filter(({ table }) => table === size.table);
    const [first, last] = [of[0], of.at(-1)];
    if (!first || !last || first.day === last.day) return { ...size, rowsPerDay: null };
    return { ...size, rowsPerDay: Math.round((last.rows - first.rows) / (last.day - first.day)) };
  });
}
