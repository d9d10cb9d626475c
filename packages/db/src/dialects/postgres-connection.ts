// A pooled connection as a Kysely connection: frequent statements are prepared by name, and queries may be pipelined.
import type { Socket } from 'node:net';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type pg from 'pg';
import { isConnectionLost, storeErrorOf } from '../store-error.ts';

export const STATEMENT_TIMEOUT_MS = 60_000;
/** Time limit for a server that sends nothing, not even the statement time-out error. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 10_000;
/** Maximum of prepared statements; further statements, which are built with varying lists, are planned each time. */
const MAX_PREPARED = 256;
/** Long statements are multi-row inserts, which rarely repeat. */
const MAX_PREPARED_LENGTH = 2_000;

/** PostgreSQL cannot store NUL in text; it is replaced with U+FFFD. */
export function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** Names of prepared statements; the first `MAX_PREPARED` distinct statements get one. */
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
  /** Undefined: statements are not prepared. */
  readonly #names: StatementNames | undefined;
  #lost: Error | undefined;
  #beginning: Promise<unknown> | undefined;
  #committing: Promise<void> | undefined;
  /** Queries without a response. */
  #awaited = 0;

  constructor(client: pg.PoolClient, names: StatementNames | undefined) {
    this.#client = client;
    this.#names = names;
  }

  get processId(): number {
    return processIdOf(this.#client);
  }

  /** Undefined if that is not known. */
  get server(): ConnectedServer | undefined {
    return servers.get(this.#client);
  }

  /** The bytes received so far, if a query that was sent completely waits for its response. */
  get awaitedAt(): number | undefined {
    const { bytesRead, writableLength } = socketOf(this.#client);
    return this.#awaited > 0 && writableLength === 0 ? bytesRead : undefined;
  }

  /** Ends it at once: its queries reject. */
  end(): void {
    socketOf(this.#client).destroy();
  }

  get isLost(): boolean {
    return this.#lost !== undefined;
  }

  /** Whether a query may be sent before earlier responses have arrived. */
  get isPipelined(): boolean {
    return this.#client.pipeline;
  }

  /** In pipeline mode this does not wait: if BEGIN fails, the first query and the commit reject with the reason. */
  async begin(sql: string): Promise<void> {
    this.#committing = undefined;
    this.#beginning = this.#send({ text: sql });
    // Avoids an unhandled rejection; the first query, which may be sent later, rejects with it.
    this.#beginning.catch(() => {});
    if (!this.isPipelined) await this.#beginning;
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    // Only a query without parameters may contain several statements, which cannot be prepared.
    const name = parameters.length === 0 ? undefined : this.#names?.of(sql);
    const { rows, rowCount } = await this.#sendInTransaction({
      text: sql,
      values: parameters.map((value) => (typeof value === 'string' ? withoutNul(value) : value)),
      ...(name ? { name } : {}),
    });
    const numAffectedRows = BigInt(rowCount ?? 0);
    return { rows: (rows ?? []) as Row[], numAffectedRows };
  }

  /**
   * May be sent before the responses of the transaction's statements have arrived; a second call returns the first result.
   * After a failed statement the server answers COMMIT with ROLLBACK: then it rejects.
   */
  commit(): Promise<void> {
    this.#committing ??= this.#sendInTransaction({ text: 'commit' }).then(({ command }) => {
      this.#beginning = undefined;
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back by the server');
    });
    return this.#committing;
  }

  /** The server itself rolls back the transaction of a lost connection, and a failed commit. */
  async rollback(): Promise<void> {
    await this.#committing?.catch(() => {});
    this.#beginning = undefined;
    if (this.isLost || this.#committing) return;
    await this.#send({ text: 'rollback' });
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('this connection does not support streaming: page by key instead');
  }

  /** A broken connection is removed from the pool. */
  release(): void {
    this.#client.release(this.#lost);
  }

  /** Responses arrive in order: a failed BEGIN rejects before the queries sent after it. */
  async #sendInTransaction(query: Query) {
    const [result] = await Promise.all([this.#send(query), this.#beginning]);
    return result;
  }

  async #send(query: Query) {
    // pg accepts query_timeout per query, but its types lack it.
    const config: pg.QueryConfig & { readonly query_timeout: number } = { ...query, query_timeout: ANSWER_TIMEOUT_MS };
    this.#awaited += 1;
    try {
      return await this.#client.query(config);
    } catch (error) {
      if (isConnectionLost(error)) this.#lost = error as Error;
      throw storeErrorOf(error);
    } finally {
      this.#awaited -= 1;
    }
  }
}

/** A server, of which several may have one address: when it started, and when the connection was made, in seconds by its clock. */
export interface ConnectedServer {
  readonly startedAt: number;
  readonly connectedAt: number;
}

/** The start of the server as SQL. */
export const STARTED_AT = 'extract(epoch from pg_postmaster_start_time())::float8';
const servers = new WeakMap<pg.ClientBase, ConnectedServer>();

/** Asks which server a new connection has. Rejects if the connection is lost. */
export async function identifyServer(client: pg.ClientBase, timeoutMs: number): Promise<void> {
  const query: pg.QueryConfig & { readonly query_timeout: number } = {
    text: `select ${STARTED_AT} as "startedAt", extract(epoch from now())::float8 as "connectedAt"`,
    query_timeout: timeoutMs,
  };
  try {
    const [server] = (await client.query<ConnectedServer>(query)).rows;
    if (server) servers.set(client, server);
  } catch (error) {
    // Other programs with PostgreSQL's protocol may lack the function.
    if (isConnectionLost(error)) throw error;
  }
}

/** What the types of pg lack. */
interface Session extends pg.ClientBase {
  readonly processID: number;
  readonly connection: { readonly stream: Socket };
}

/** The number of the server's process that works for a connection. */
export const processIdOf = (client: pg.ClientBase): number => (client as Session).processID;
const socketOf = (client: pg.ClientBase): Socket => (client as Session).connection.stream;
