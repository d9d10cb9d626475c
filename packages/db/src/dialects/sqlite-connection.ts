// Runs statements on a SQLite connection, with cached prepared statements; without Kysely, for a thread.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import { storeErrorOf } from '../store-error.ts';

export const ROLLBACK = 'ROLLBACK';
/** There are few distinct statements; the limit guards against queries built with varying lists. */
const MAX_STATEMENTS = 256;

interface Prepared {
  readonly statement: StatementSync;
  readonly returnsRows: boolean;
}

/** The part of a query that is run. */
export type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>;

export class SqliteConnection implements DatabaseConnection {
  readonly #database: DatabaseSync;
  readonly #statements = new LRUCache<string, Prepared>({ max: MAX_STATEMENTS });
  /** The size of its largest statement. */
  largest = 0;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  async executeQuery<Row>(query: Statement): Promise<QueryResult<Row>> {
    this.largest = Math.max(this.largest, sizeOf(query));
    try {
      return this.run(query);
    } catch (error) {
      throw storeErrorOf(error);
    }
  }

  /** Throws SQLite's errors. */
  run<Row>({ sql, parameters }: Statement): QueryResult<Row> {
    // SQLite rolls back by itself on some errors, for example a full disk.
    if (sql === ROLLBACK && !this.#database.isTransaction) return { rows: [] };
    const { statement, returnsRows } = this.#prepare(sql);
    const values = parameters as SQLInputValue[];
    if (returnsRows) return { rows: statement.all(...values) as Row[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('this connection does not support streaming: page by key instead');
  }

  #prepare(sql: string): Prepared {
    let prepared = this.#statements.get(sql);
    if (!prepared) {
      const statement = this.#database.prepare(sql);
      prepared = { statement, returnsRows: statement.columns().length > 0 };
      this.#statements.set(sql, prepared);
    }
    return prepared;
  }
}

/** Characters and bytes of the parameters. */
export function sizeOf({ parameters }: Statement): number {
  return parameters.reduce<number>((sum, each) => {
    if (typeof each === 'string') return sum + each.length;
    return each instanceof Uint8Array ? sum + each.byteLength : sum;
  }, 0);
}
