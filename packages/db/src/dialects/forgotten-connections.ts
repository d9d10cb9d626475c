// Ends connections that the network has forgotten, as a firewall that restarts does: neither side is notified, and a statement
// would wait for its time limit, and all that waits for the statement too. The server is asked on a new connection whether it
// works for the old one.
import type pg from 'pg';
import { type PoolConnection, processIdOf, STARTED_AT } from './postgres-connection.ts';

/** Twice this long without a byte from the server, which works for none of the statements, ends a connection. */
const CHECK_MS = 3_000;

/** What the last check found. */
interface Checked {
  readonly bytesRead: number;
  /** The server did not work for it. */
  readonly isSuspect: boolean;
}

export class ForgottenConnections implements Disposable {
  readonly #open: () => pg.Client;
  /** In use. */
  readonly #used = new Map<PoolConnection, Checked | undefined>();
  #timer: NodeJS.Timeout | undefined;
  #isChecking = false;

  /** `open`: makes a connection to the server, not connected yet. */
  constructor(open: () => pg.Client) {
    this.#open = open;
  }

  add(connection: PoolConnection): void {
    this.#used.set(connection, undefined);
    this.#timer ??= setInterval(() => void this.#check(), CHECK_MS).unref();
  }

  delete(connection: PoolConnection): void {
    this.#used.delete(connection);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  async #check(): Promise<void> {
    if (this.#used.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      return;
    }
    const silent: PoolConnection[] = [];
    for (const [connection, before] of this.#used) {
      const bytesRead = connection.awaitedAt;
      if (bytesRead !== undefined && before?.bytesRead === bytesRead) silent.push(connection);
      else this.#used.set(connection, bytesRead === undefined ? undefined : { bytesRead, isSuspect: false });
    }
    if (silent.length === 0 || this.#isChecking) return;
    this.#isChecking = true;
    const asked = await workedFor(
      this.#open,
      silent.map(({ processId }) => processId),
    ).catch(() => undefined);
    this.#isChecking = false;
    for (const connection of silent) {
      const before = this.#used.get(connection);
      // In the meantime it may have got a response, or have been released.
      if (!before || connection.awaitedAt !== before.bytesRead) continue;
      const isSuspect = asked !== undefined && isForgotten(connection, asked);
      if (isSuspect && before.isSuspect) connection.end();
      else this.#used.set(connection, { ...before, isSuspect });
    }
  }
}

interface Asked {
  /** Of the server that was asked, by its clock. */
  readonly startedAt: number;
  /** Its processes that work. */
  readonly working: ReadonlySet<number>;
}

/** Whether the server does not work for a connection, or has started after it; another server with its address does not know it. */
function isForgotten({ server, processId }: PoolConnection, { startedAt, working }: Asked): boolean {
  if (server === undefined) return false;
  return startedAt > server.connectedAt || (startedAt === server.startedAt && !working.has(processId));
}

/** Undefined behind a pooler, which gives the processes other numbers. */
async function workedFor(open: () => pg.Client, processIds: readonly number[]): Promise<Asked | undefined> {
  const asker = open();
  asker.on('error', () => {});
  try {
    await asker.connect();
    const query: pg.QueryConfig & { readonly query_timeout: number } = {
      // Without permission, or without statistics, the state is null or `disabled`.
      text: `select pid, pid = pg_backend_pid() as is_own, ${STARTED_AT} as started_at from pg_stat_activity
        where pid = pg_backend_pid() or (pid = any($1::int[]) and (state is null or state not like 'idle%'))`,
      values: [processIds],
      query_timeout: CHECK_MS,
    };
    const { rows } = await asker.query<{ readonly pid: number; readonly is_own: boolean; readonly started_at: number }>(
      query,
    );
    const own = rows.find(({ pid, is_own }) => is_own && pid === processIdOf(asker));
    return own && { startedAt: own.started_at, working: new Set(rows.map(({ pid }) => pid)) };
  } finally {
    asker.end().catch(() => {});
  }
}
