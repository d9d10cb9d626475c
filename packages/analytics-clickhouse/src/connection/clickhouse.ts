// The connection to ClickHouse, a cluster over HTTP or ClickHouse in this process: one client, the same statements.
import { Readable } from 'node:stream';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { chdbConnection, closeChdb, insertFile } from './chdb.ts';
import { clickHouseErrorOf } from './clickhouse-error.ts';
import { type Params, withShortLists } from './long-lists.ts';

export type { Params } from './long-lists.ts';

export interface StatementOptions {
  /** ClickHouse ends the statement after this time. */
  readonly timeoutMs?: number;
}

export interface QueryOptions extends StatementOptions {
  /** Of ClickHouse, for this statement. */
  readonly maxMemoryBytes?: number;
  /** More rows are refused. */
  readonly maxRows?: number;
}

export interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Statements may run concurrently. Methods reject with ClickHouseError: `unavailable` if the same statement may succeed later,
 * else `refused`. A rejected insert may have been applied: repeat it with the same token.
 */
export interface ClickHouse extends AsyncDisposable {
  /** The tables are replicated and distributed over this cluster; undefined for one server. */
  readonly cluster: string | undefined;
  /** The rows of a SELECT; integers of 64 bits are numbers. */
  query<Row>(text: string, params?: Params, options?: QueryOptions): Promise<Row[]>;
  /** Inserts rows with the columns of the first one, read as they are sent. */
  insert(table: string, rows: Iterable<Readonly<Record<string, unknown>>>): Promise<void>;
  command(text: string, params?: Params, options?: StatementOptions): Promise<void>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
/** A server delays inserts while it merges. */
const INSERT_TIMEOUT_MS = 600_000;
/** All bitmaps of a hundred million domains, and what is computed from them. */
const DEFAULT_MAX_MEMORY_BYTES = 4 * 1024 ** 3;
/** Above the largest page, the ids of a table of domains. */
const DEFAULT_MAX_ROWS = 1_000_000;
/**
 * The answer of the server may arrive this much after it ended the statement, and at most as long as the limit: a server that
 * hangs does not keep the connections of short statements.
 */
const GRACE_MS = 5_000;
const MAX_CONNECTIONS = 16;
/** Of the client, above any timeout of a statement. */
const REQUEST_TIMEOUT_MS = 3_600_000;
/** A read of few rows from many files asks the system for all of them at once, and needs no other thread for each. */
const READS = `local_filesystem_read_method = 'pread', local_filesystem_read_prefetch = 1`;

/**
 * `http://user:password@host:port/database` or `https:…`, with `?cluster=name` if the tables are distributed: nothing is sent
 * until the first statement. `chdb:<folder>`: loads ClickHouse into this process; rejects with ClickHouseError if it is not
 * installed or another folder is open. After the signal aborts, statements reject: on a server also those in progress.
 */
export async function openClickHouse(url: string, { signal }: OpenOptions = {}): Promise<ClickHouse> {
  const isInProcess = url.startsWith('chdb:');
  const server = isInProcess ? undefined : new URL(url);
  const cluster = server?.searchParams.get('cluster') ?? undefined;
  server?.searchParams.delete('cluster');
  const client = createClient({
    ...(server ? { url: server } : { connection: await chdbConnection(url.slice('chdb:'.length)) }),
    application: 'strata',
    // Failures are reported by the callers, once.
    log: { level: ClickHouseLogLevel.OFF },
    max_open_connections: MAX_CONNECTIONS,
    request_timeout: REQUEST_TIMEOUT_MS,
    compression: { request: !isInProcess },
    // Many parameters do not fit into an address.
    use_multipart_params_auto: true,
    // The headers keep the connection of a long statement open; a query ends with its connection.
    clickhouse_settings: {
      ...(server && { cancel_http_readonly_queries_on_client_close: 1 }),
      output_format_json_quote_64bit_integers: 0,
      send_progress_in_http_headers: 1,
      http_headers_progress_interval_ms: '20000',
    },
  });
  // The client ignores a signal that has aborted before a statement.
  const endOf = (timeoutMs: number) => {
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs + Math.min(timeoutMs, GRACE_MS));
    return server && signal ? AbortSignal.any([timeout, signal]) : timeout;
  };
  return {
    cluster,
    query: <Row>(text: string, params: Params = {}, options: QueryOptions = {}) =>
      reported(async () => {
        const { timeoutMs = DEFAULT_TIMEOUT_MS } = options;
        const { maxMemoryBytes = DEFAULT_MAX_MEMORY_BYTES, maxRows = DEFAULT_MAX_ROWS } = options;
        // In the statement: a setting of the client would stay set in ClickHouse in this process.
        const short = withShortLists(text, params);
        const query = `${short.text}\nSETTINGS max_execution_time = ${timeoutMs / 1_000},
          max_memory_usage = ${maxMemoryBytes}, max_result_rows = ${maxRows}, ${READS}`;
        const abort_signal = endOf(timeoutMs);
        const result = await client.query({ query, query_params: short.params, format: 'JSONEachRow', abort_signal });
        return result.json<Row>();
      }),
    insert: (table, rows) =>
      reported(async () => {
        const rest = Iterator.from(rows);
        const { value: first } = rest.next();
        if (!first) return;
        const columns = Object.keys(first);
        for (const name of [table, ...columns]) if (!NAME.test(name)) throw new TypeError(`${name} is not a name`);
        const abort_signal = endOf(INSERT_TIMEOUT_MS);
        const query = `INSERT INTO ${table} (${columns.join(', ')}) SETTINGS max_execution_time = ${INSERT_TIMEOUT_MS / 1_000}`;
        const lines = linesOf(first, rest);
        if (isInProcess) {
          await using file = await insertFile(lines);
          const text = `${query} SELECT * FROM file({path:String}, ${FORMAT})`;
          await client.command({ query: text, query_params: { path: file.path }, abort_signal });
        } else {
          const values = Readable.from(lines, { objectMode: false });
          const { stream } = await client.exec({ query: `${query} FORMAT ${FORMAT}`, values, abort_signal });
          stream.resume();
        }
      }),
    command: (text, params = {}, { timeoutMs = DEFAULT_TIMEOUT_MS } = {}) =>
      reported(async () => {
        await client.command({
          query: text,
          query_params: params,
          // It would stay set in ClickHouse in this process.
          ...(server && { clickhouse_settings: { max_execution_time: timeoutMs / 1_000 } }),
          abort_signal: endOf(timeoutMs),
        });
      }),
    async [Symbol.asyncDispose]() {
      await client.close();
      if (isInProcess) closeChdb();
    },
  };
}

/** Names in statements that are not bound: tables and columns of this package. */
const NAME = /^\w+$/;
/** An array of values in each line. */
const FORMAT = 'JSONCompactEachRow';
/** Rows in one piece of text: limits the time for which the event loop is blocked. */
const ROWS_AT_ONCE = 500;

type Row = Readonly<Record<string, unknown>>;

function* linesOf(first: Row, rest: Iterable<Row>): Generator<string> {
  const columns = Object.keys(first);
  let lines = [lineOf(first, columns)];
  for (const row of rest) {
    if (lines.length === ROWS_AT_ONCE) {
      yield `${lines.join('\n')}\n`;
      lines = [];
    }
    lines.push(lineOf(row, columns));
  }
  yield `${lines.join('\n')}\n`;
}

/** ClickHouse refuses the escape of half of a surrogate pair. */
function lineOf(row: Row, columns: readonly string[]): string {
  const line = JSON.stringify(columns.map((column) => row[column]));
  if (!line.includes('\\ud')) return line;
  return line.replace(/\\(ud[89a-f][0-9a-f]{2}|.)/g, (found, code: string) => (code.length > 1 ? '\ufffd' : found));
}

async function reported<Value>(run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    throw clickHouseErrorOf(error);
  }
}
