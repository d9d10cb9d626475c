// The connection of a SQLite thread, as Kysely uses it: a transaction takes as few messages as possible, as each wakes a thread.
import type { DatabaseConnection, QueryResult } from 'kysely';
import { ROLLBACK, type SqliteConnection, type Statement, sizeOf } from './sqlite-connection.ts';

/** Statements to run one after another, up to the first that fails. */
export interface Batch {
  readonly statements: readonly Statement[];
  /** They fail if the transaction before them has ended, as by an error. */
  readonly isInTransaction: boolean;
}

const COMMIT: Statement = { sql: 'COMMIT', parameters: [] };
/** The size of a large statement: some receipts. */
const LARGE = 8_192;

export class ThreadConnection implements DatabaseConnection {
  readonly #main: SqliteConnection;
  readonly #send: (batch: Batch) => Promise<readonly QueryResult<unknown>[]>;
  /** BEGIN, which is sent with the first statement. */
  #begin: Statement | undefined;
  /** It was sent, and the end of the transaction was not. */
  #isOpen = false;

  /** `main`: runs small statements outside of transactions. */
  constructor(main: SqliteConnection, send: (batch: Batch) => Promise<readonly QueryResult<unknown>[]>) {
    this.#main = main;
    this.#send = send;
  }

  get isInTransaction(): boolean {
    return this.#isOpen || this.#begin !== undefined;
  }

  async executeQuery<Row>(query: Statement): Promise<QueryResult<Row>> {
    const { sql } = query;
    if (sql.startsWith('BEGIN')) this.#begin = query;
    else if (sql === COMMIT.sql || sql === ROLLBACK) {
      this.#begin = undefined;
      const isOpen = this.#isOpen;
      this.#isOpen = false;
      if (isOpen) await this.#send({ statements: [query], isInTransaction: sql !== ROLLBACK });
    } else if (this.isInTransaction || sizeOf(query) >= LARGE) {
      const [result] = await this.executeAll([query]);
      return result as QueryResult<Row>;
    } else return this.#main.executeQuery<Row>(query);
    return { rows: [] };
  }

  /** Runs statements one after another, up to the first that fails; `isLast`: then commits. */
  async executeAll(
    statements: readonly Statement[],
    { isLast = false } = {},
  ): Promise<readonly QueryResult<unknown>[]> {
    const { isInTransaction } = this;
    const begin = this.#begin ? [this.#begin] : [];
    this.#begin = undefined;
    this.#isOpen = isInTransaction;
    // Without kysely's own fields, which are not sent.
    const own = statements.map(({ sql, parameters }) => ({ sql, parameters }));
    const sent = [...begin, ...own, ...(isLast ? [COMMIT] : [])];
    const results = await this.#send({ statements: sent, isInTransaction: isInTransaction && begin.length === 0 });
    if (isLast) this.#isOpen = false;
    return results.slice(begin.length, begin.length + statements.length);
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    return this.#main.streamQuery();
  }
}
