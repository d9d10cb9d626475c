// The thread of `SqliteThread`: runs the statements that it receives, and answers with their outcome.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection } from './sqlite-connection.ts';
import type { Reply, SqliteFile } from './sqlite-thread.ts';
import type { Batch } from './thread-connection.ts';

const { file, options, pragmas } = workerData as SqliteFile;
const database = new DatabaseSync(file, options);
database.exec(pragmas);
const connection = new SqliteConnection(database);

function replyTo({ statements, isInTransaction }: Batch): Reply {
  try {
    if (isInTransaction && !database.isTransaction) throw new Error('the transaction has ended');
    return { results: statements.map((statement) => connection.run(statement)) };
  } catch (error) {
    const { message, code, errcode } = error as Error & { readonly code?: unknown; readonly errcode?: unknown };
    return { error: { message, code, errcode } };
  }
}

parentPort?.on('message', (batch: Batch) => parentPort?.postMessage(replyTo(batch)));
parentPort?.postMessage('ready');
