// A connection to a SQLite file in a worker thread: a commit that waits for the disk does not block the event loop. It is
// started when the file is busy; until it is ready, and after it has ended, the connection of the main thread is used.
import type { DatabaseSyncOptions } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { DatabaseConnection, QueryResult } from 'kysely';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { Statement } from './sqlite-connection.ts';

export interface SqliteFile {
  readonly file: string;
  readonly options: DatabaseSyncOptions;
  readonly pragmas: string;
}

/** The answer of the thread to a statement; errors lose their properties between threads. */
export type Reply =
  | { readonly result: QueryResult<unknown> }
  | { readonly error: { readonly message: string; readonly code: unknown; readonly errcode: unknown } };

/** So many uses of the connection within a second start the thread: fewer are no load, and it takes memory. */
const BUSY_USES = 50;

export class SqliteThread implements AsyncDisposable {
  readonly #file: SqliteFile;
  #worker: Worker | undefined;
  #connection: DatabaseConnection | undefined;
  #waiting: PromiseWithResolvers<Reply> | undefined;
  #uses = 0;
  #countedAtMs = 0;
  #isClosed = false;

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /** Counts a use; undefined while the thread does not run. Between transactions only: what one connection commits the other reads. */
  connection(): DatabaseConnection | undefined {
    if (!this.#worker && this.#isBusy()) this.#start();
    return this.#connection;
  }

  #isBusy(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#countedAtMs > 1_000) [this.#uses, this.#countedAtMs] = [0, nowMs];
    this.#uses += 1;
    return this.#uses > BUSY_USES && !this.#isClosed;
  }

  #start(): void {
    const worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: this.#file });
    this.#worker = worker;
    worker.unref();
    worker.on('message', (reply: Reply | 'ready') => {
      if (reply === 'ready') this.#connection = this.#connectionTo(worker);
      else this.#settle((waiting) => waiting.resolve(reply));
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    // SQLite has rolled back its transaction, unless that was committed before.
    worker.once('exit', () => {
      this.#worker = undefined;
      this.#connection = undefined;
      this.#settle((waiting) => waiting.reject(new StoreError('connection-lost', { cause })));
    });
  }

  #settle(how: (waiting: PromiseWithResolvers<Reply>) => void): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#worker?.unref();
    if (waiting) how(waiting);
  }

  /** Kysely runs one statement after another on a connection. */
  #connectionTo(worker: Worker): DatabaseConnection {
    return {
      executeQuery: async <Row>({ sql, parameters }: Statement): Promise<QueryResult<Row>> => {
        if (this.#worker !== worker) throw new StoreError('connection-lost');
        const waiting = Promise.withResolvers<Reply>();
        this.#waiting = waiting;
        // The process does not end before the reply.
        worker.ref();
        worker.postMessage({ sql, parameters } satisfies Statement);
        const reply = await waiting.promise;
        if ('result' in reply) return reply.result as QueryResult<Row>;
        const { message, ...codes } = reply.error;
        throw storeErrorOf(Object.assign(new Error(message), codes));
      },
      streamQuery: () => {
        throw new Error('this connection does not support streaming: page by key instead');
      },
    };
  }

  /** Call it without a statement in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }
}
