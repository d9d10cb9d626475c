// A connection of the pool as Kysely sees it: what runs often is prepared by name, and queries may be sent before the answers to earlier
// ones have come.
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type pg from 'pg';
import { isConnectionLost, storeErrorOf } from '../store-error.ts';

/** How long a statement may take. */
export const STATEMENT_TIMEOUT_MS = 60_000;
/** A server that says nothing at all, not even that a statement took too long, is given up. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 10_000;
/** Distinct statements that are prepared; what is built with varying lists beyond them is planned each time. */
const MAX_PREPARED = 256;
/** Statements with long texts are inserts of many rows, hardly ever the same twice. */
const MAX_PREPARED_LENGTH = 2_000;

/** PostgreSQL keeps no NUL in a text: it becomes what an unreadable character becomes. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** The first statements that come are prepared, in each connection once. */
export class StatementNames {
  readonly #names = new Map<string, string>();

  of(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined || sql.length > MAX_PREPARED_LENGTH || this.#names.size >= MAX_PREPARED) return known;
    const name = `s${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}

interface Query {
  readonly text: string;
  readonly values?: unknown[];
  readonly name?: string;
}

export class PoolConnection implements DatabaseConnection {
  readonly #client: pg.PoolClient;
  readonly #names: StatementNames;
  #lost: Error | undefined;
  #beginning: Promise<unknown> | undefined;
  #committing: Promise<void> | undefined;

  constructor(client: pg.PoolClient, names: StatementNames) {
    this.#client = client;
    this.#names = names;
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Whether a query may be sent before the answers to earlier ones have come. */
  get isPipelined(): boolean {
    return this.#client.pipeline;
  }

  /** Pipelined, this does not wait: where the transaction could not begin, its first query and its end reject with the reason. */
  async begin(sql: string): Promise<void> {
    this.#committing = undefined;
    this.#beginning = this.#ask({ text: sql });
    // The first query rejects with it too, which may be sent later.
    this.#beginning.catch(() => {});
    if (!this.isPipelined) await this.#beginning;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    // Only a query without values may be several statements, and these are not prepared.
    const name = parameters.length === 0 ? undefined : this.#names.of(sql);
    const { rows, rowCount } = await this.#askWithin({
      text: sql,
      values: parameters.map((value) => (typeof value === 'string' ? withoutNul(value) : value)),
      ...(name ? { name } : {}),
    });
    const numAffectedRows = BigInt(rowCount ?? 0);
    return { rows: (rows ?? []) as Row[], numAffectedRows };
  }

  /**
   * May be sent before the answers to what it commits have come; called again, it gives the outcome of the first call. After an error of a
   * statement before it the server answers COMMIT with ROLLBACK: then it rejects.
   */
  commit(): Promise<void> {
    this.#committing ??= this.#askWithin({ text: 'commit' }).then(({ command }) => {
      this.#beginning = undefined;
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back by the server');
    });
    return this.#committing;
  }

  /** The server rolls back what a lost connection had begun, and what it could not commit. */
  async rollback(): Promise<void> {
    await this.#committing?.catch(() => {});
    this.#beginning = undefined;
    if (this.isLost || this.#committing) return;
    await this.#ask({ text: 'rollback' });
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('this connection does not stream: page by key instead');
  }

  /** A connection that broke is not used again. */
  release(): void {
    this.#client.release(this.#lost);
  }

  /** Answers come in order: what failed to begin rejects before what was sent behind it. */
  async #askWithin(query: Query) {
    const [answer] = await Promise.all([this.#ask(query), this.#beginning]);
    return answer;
  }

  async #ask(query: Query) {
    // pg takes it with each query, but its types do not say so.
    const asked: pg.QueryConfig & { readonly query_timeout: number } = { ...query, query_timeout: ANSWER_TIMEOUT_MS };
    try {
      return await this.#client.query(asked);
    } catch (error) {
      if (isConnectionLost(error)) this.#lost = error as Error;
      throw storeErrorOf(error);
    }
  }
}
