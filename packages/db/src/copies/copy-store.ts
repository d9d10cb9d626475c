// Copies a store from SQLite to PostgreSQL or back: in one transaction, from one snapshot, verified row by row.
import { createHash, type Hash } from 'node:crypto';
import { withoutNul } from '../dialects/postgres-connection.ts';
import { sqliteFileOf } from '../file-system.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { StoreSchema } from '../store-schema.ts';
import { openPostgresEnd } from './postgres-end.ts';
import { openSqliteEnd } from './sqlite-end.ts';
import type { Row, StoreRows } from './store-rows.ts';

/** The number of rows of a table, and the SHA-256 of all rows in key order. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  /** Hex. */
  readonly sha256: string;
}

export interface CopyOptions {
  /** Reports the rows of a table written so far, then the rows read back for comparison. */
  readonly onProgress?: (progress: {
    readonly table: string;
    readonly rows: number;
    readonly isComparing: boolean;
  }) => void;
  readonly signal?: AbortSignal;
}

/**
 * Copies the store of a `sqlite:` or `postgres://` URL to another one, which must hold no store with rows, and compares both.
 * Both schemas are upgraded first. Writers of the source wait until its end. The copy is atomic: if it is stopped, killed
 * or differs, the target store stays empty. Rejects with StoreError: `in-use` if other processes are connected to the source, before
 * its upgrade or at the end, or to a file as the target, `not-empty`, `copy-differs` or a database error.
 */
export async function copyStore(
  schema: Pick<StoreSchema, 'migrations' | 'keys'>,
  source: string,
  target: string,
  { onProgress, signal }: CopyOptions = {},
): Promise<readonly CopiedTable[]> {
  const { migrations, keys } = schema;
  const open = async (url: string, isSource: boolean) => {
    const file = sqliteFileOf(url);
    return file === undefined ? openPostgresEnd(url, schema, isSource) : openSqliteEnd(file, migrations, isSource);
  };
  try {
    await using from = await open(source, true);
    await using to = await open(target, false);
    return await from.reading(async (read) =>
      to.writing(async (write) => {
        await refuseFilled(write, Object.keys(keys));
        const copied: CopiedTable[] = [];
        for (const [table, key] of Object.entries(keys)) {
          const each = { table, key, columns: await write.columns(table) };
          const digest = (isComparing: boolean) =>
            new RowDigest(each.columns, (rows) => {
              signal?.throwIfAborted();
              onProgress?.({ table, rows, isComparing });
            });
          const [written, again] = [digest(false), digest(true)];
          await write.insert(each, written.through(read.pages(each)));
          for await (const _ of again.through(write.pages(each)));
          const sha256 = written.hex();
          if (written.rows !== again.rows || sha256 !== again.hex()) {
            const rows = `${written.rows} rows were written, ${again.rows} were read again`;
            throw new StoreError('copy-differs', { cause: new Error(`${table}: ${rows}`) });
          }
          const last = await read.lastNumber(each);
          if (last > 0) await write.setLastNumber(each, last);
          copied.push({ table, rows: written.rows, sha256 });
        }
        await read.refuseInUse();
        return copied;
      }),
    );
  } catch (error) {
    throw storeErrorOf(error);
  }
}

/** Rejects if a table has rows. A new store has only settings and counters, which the copy replaces. */
async function refuseFilled(store: StoreRows, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    if (table === 'settings' || table === 'counters') continue;
    const [row] = await store.run(`select 1 from ${table} limit 1`);
    if (row) throw new StoreError('not-empty', { cause: new Error(`${table} has rows`) });
  }
  for (const table of ['settings', 'counters']) await store.run(`delete from ${table}`);
}

/** Counts and hashes rows: the values as JSON in column-name order, bytes as hex. NUL is replaced, since PostgreSQL cannot store it. */
class RowDigest {
  rows = 0;
  readonly #columns: readonly string[];
  readonly #onRows: (rows: number) => void;
  readonly #sum: Hash = createHash('sha256');

  constructor(columns: readonly string[], onRows: (rows: number) => void) {
    this.#columns = columns;
    this.#onRows = onRows;
  }

  async *through(pages: AsyncIterable<readonly Row[]>): AsyncGenerator<readonly Row[]> {
    for await (const page of pages) {
      for (const row of page) {
        const values = this.#columns.map((name) => {
          const value = row[name];
          if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
          return typeof value === 'string' ? withoutNul(value) : value;
        });
        this.#sum.update(JSON.stringify(values)).update('\n');
      }
      this.rows += page.length;
      this.#onRows(this.rows);
      yield page;
    }
  }

  /** Once, after the last row. */
  hex(): string {
    return this.#sum.digest('hex');
  }
}
