// The thread of `SqliteThread`: runs each statement that it receives, and answers with its outcome.
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { SqliteConnection, type Statement } from './sqlite-connection.ts';
import type { Reply, SqliteFile } from './sqlite-thread.ts';

const { file, options, pragmas } = workerData as SqliteFile;
const database = new DatabaseSync(file, options);
database.exec(pragmas);
const connection = new SqliteConnection(database);

function replyTo(statement: Statement): Reply {
  try {
    return { result: connection.run(statement) };
  } catch (error) {
    const { message, code, errcode } = error as Error & { readonly code?: unknown; readonly errcode?: unknown };
    return { error: { message, code, errcode } };
  }
}

parentPort?.on('message', (statement: Statement) => parentPort?.postMessage(replyTo(statement)));
parentPort?.postMessage('ready');
