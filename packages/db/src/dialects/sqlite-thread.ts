// A connection to a SQLite file in a worker thread, so that a commit that waits for the disk does not block the event loop.
// It is started when the file is busy, for transactions and large statements: a small one takes less time than a message.
import type { DatabaseSyncOptions } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { DatabaseConnection, QueryResult } from 'kysely';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { type Batch, ThreadConnection } from './thread-connection.ts';

export interface SqliteFile {
  readonly file: string;
  readonly options: DatabaseSyncOptions;
  readonly pragmas: string;
}

/** The answer of the thread to a batch; errors lose their properties between threads. */
export type Reply =
  | { readonly results: readonly QueryResult<unknown>[] }
  | { readonly error: { readonly message: string; readonly code: unknown; readonly errcode: unknown } };

/** So many uses of the connection within a second start the thread: fewer are no load, and it takes memory. */
const BUSY_USES = 50;

/** One statement of this size starts it too: it takes some milliseconds, and the write to the disk takes more. */
const BUSY_SIZE = 65_536;

/** A thread that ended, or did not start, is not replaced until this long after its start. */
const RESTART_MS = 60_000;

export class SqliteThread implements AsyncDisposable {
  readonly #file: SqliteFile;
  readonly #main: SqliteConnection;
  #worker: Worker | undefined;
  #connection: DatabaseConnection | undefined;
  /** Batches in the thread, oldest first: one, and the rollback of a transaction that failed while it runs. */
  #waiting: PromiseWithResolvers<Reply>[] = [];
  #startAfterMs = 0;
  #uses = 0;
  #countedAtMs = 0;
  #isClosed = false;

  /** `main`: the connection of this thread. Only one of both is in use at a time: what one commits the other reads. */
  constructor(file: SqliteFile, main: SqliteConnection) {
    this.#file = file;
    this.#main = main;
  }

  /** The connection of the next use, which is counted. */
  connection(): DatabaseConnection {
    if (!this.#worker && this.#isBusy()) this.#start();
    return this.#connection ?? this.#main;
  }

  #isBusy(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#countedAtMs > 1_000) [this.#uses, this.#countedAtMs] = [0, nowMs];
    this.#uses += 1;
    const isBusy = this.#uses > BUSY_USES || this.#main.largest >= BUSY_SIZE;
    return isBusy && nowMs >= this.#startAfterMs && !this.#isClosed;
  }

  #start(): void {
    this.#startAfterMs = performance.now() + RESTART_MS;
    let worker: Worker;
    try {
      worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), { workerData: this.#file });
    } catch (error) {
      // The system has no more threads: this one goes on.
      process.emitWarning(`a thread for the database did not start: ${(error as Error).message}`);
      return;
    }
    this.#worker = worker;
    worker.unref();
    worker.on('message', (reply: Reply | 'ready') => {
      if (reply === 'ready') this.#connection = new ThreadConnection(this.#main, (batch) => this.#run(worker, batch));
      else this.#settle(this.#waiting.splice(0, 1), (waiting) => waiting.resolve(reply));
    });
    let cause: unknown;
    worker.on('error', (error) => {
      cause = error;
    });
    // SQLite has rolled back its transaction, unless that was committed before.
    worker.once('exit', () => {
      this.#worker = undefined;
      this.#connection = undefined;
      this.#settle(this.#waiting.splice(0), (waiting) => waiting.reject(new StoreError('connection-lost', { cause })));
    });
  }

  #settle(settled: PromiseWithResolvers<Reply>[], how: (waiting: PromiseWithResolvers<Reply>) => void): void {
    if (this.#waiting.length === 0) this.#worker?.unref();
    settled.forEach(how);
  }

  async #run(worker: Worker, batch: Batch): Promise<readonly QueryResult<unknown>[]> {
    if (this.#worker !== worker) throw new StoreError('connection-lost');
    const waiting = Promise.withResolvers<Reply>();
    worker.postMessage(batch);
    this.#waiting.push(waiting);
    // The process does not end before the reply.
    worker.ref();
    const reply = await waiting.promise;
    if ('results' in reply) return reply.results;
    const { message, ...codes } = reply.error;
    throw storeErrorOf(Object.assign(new Error(message), codes));
  }

  /** Call it without a statement in progress. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }
}
