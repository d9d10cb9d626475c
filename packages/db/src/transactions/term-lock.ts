// Locks that one process of a store holds, with a term (fencing token) for each holder. On PostgreSQL: a session advisory lock
// on a separate connection, released when the connection ends. On SQLite: a file lock beside the database, or no lock where
// a single service uses the file.
import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import { counterOf, incrementCounter } from '../counters.ts';
import { BEGIN_WRITING, openClient } from '../dialects/postgres-dialect.ts';
import { lockFile } from '../file-lock.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import type { CommonTables } from '../tables.ts';
import { writeTransaction } from './write-transaction.ts';

export interface TermHold extends AsyncDisposable {
  /** Increases with each holder. */
  readonly term: number;
  /** Aborts when the connection is lost: another process may then acquire the lock. */
  readonly lost: AbortSignal;
}

export interface TermLock extends AsyncDisposable {
  /** Acquires the lock and begins a term; undefined while another process holds it. Must not be called while it is held. */
  tryTake(): Promise<TermHold | undefined>;
  /** The last term that any process began; 0 before the first. */
  lastTerm(): Promise<number>;
}

export interface TermLockName {
  readonly name: string;
  /** Distinguishes the lock from those of other programs on the server. */
  readonly number: number;
  /** Stores its terms. */
  readonly counter: string;
}

/** The server ends the session of a stalled or disconnected process after this time without a heartbeat. */
const SESSION_TIMEOUT_SECONDS = 10;
const HEARTBEAT_MS = 1_000;
/** A connection without a response within this time is lost. */
const ANSWER_MS = 5_000;

/** For a store that a single service uses. */
export function soleLock(db: Kysely<CommonTables>, { counter }: TermLockName): TermLock {
  return {
    async tryTake() {
      const term = await writeTransaction(db, (tx) => incrementCounter(tx, counter));
      return { term, lost: new AbortController().signal, [Symbol.asyncDispose]: async () => {} };
    },
    lastTerm: () => counterOf(db, counter),
    async [Symbol.asyncDispose]() {},
  };
}

/** For a SQLite file that processes may share; lost only when the process ends. An in-memory database is never shared. */
export function fileLock(db: Kysely<CommonTables>, lock: TermLockName, file: string): TermLock {
  const sole = soleLock(db, lock);
  if (file === ':memory:') return sole;
  let held: Disposable | undefined;
  const release = async () => {
    held?.[Symbol.dispose]();
    held = undefined;
  };
  return {
    async tryTake() {
      // The real path, so that all links to the file share one lock.
      let locked: Disposable | undefined;
      try {
        locked = lockFile(`${realpathSync(file)}.${lock.name}.lock`);
      } catch (cause) {
        throw new StoreError('cannot-open', { cause });
      }
      if (!locked) return undefined;
      held = locked;
      try {
        const hold = await sole.tryTake();
        return hold && { ...hold, [Symbol.asyncDispose]: release };
      } catch (error) {
        // Otherwise no process could take it before this one ends.
        await release();
        throw error;
      }
    },
    lastTerm: sole.lastTerm,
    [Symbol.asyncDispose]: release,
  };
}

/** Opens its connection on the first attempt, keeps it while another process holds the lock, and replaces it when lost. */
export function sessionLock(db: Kysely<CommonTables>, { name, number, counter }: TermLockName, url: string): TermLock {
  let session: Session | undefined;
  return {
    async tryTake() {
      if (!session?.isOpen) session = await openSession(url, name);
      const own = session;
      const [held] = await own.ask(`select pg_try_advisory_lock(${number}, hashtext(current_schema())) as held`);
      if (held?.held !== true) return undefined;
      const term = await own.beginTerm(counter);
      const heartbeat = setInterval(() => void own.ask('select 1').catch(() => {}), HEARTBEAT_MS);
      own.lost.addEventListener('abort', () => clearInterval(heartbeat), { once: true });
      return {
        term,
        lost: own.lost,
        // Closing the connection releases the lock, even if the server does not respond.
        async [Symbol.asyncDispose]() {
          clearInterval(heartbeat);
          await own.end();
        },
      };
    },
    lastTerm: () => counterOf(db, counter),
    async [Symbol.asyncDispose]() {
      await session?.end();
    },
  };
}

interface Session {
  readonly lost: AbortSignal;
  readonly isOpen: boolean;
  /** Rejects with StoreError; without a response the connection counts as lost. */
  ask(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Under the writer lock, on the connection that holds the term lock: a later holder's term is greater. */
  beginTerm(counter: string): Promise<number>;
  end(): Promise<void>;
}

async function openSession(url: string, name: string): Promise<Session> {
  const client = openClient(url, `strata ${name}`);
  const lost = new AbortController();
  const lose = () => lost.abort();
  client.on('error', lose);
  client.on('end', lose);
  const ask: Session['ask'] = async (text) => {
    const query: pg.QueryConfig & { readonly query_timeout: number } = { text, query_timeout: ANSWER_MS };
    try {
      const result = (await client.query(query)) as pg.QueryResult | pg.QueryResult[];
      return (Array.isArray(result) ? result.at(-1) : result)?.rows ?? [];
    } catch (error) {
      // The outcome of the statement is unknown: close the connection, which releases the lock.
      lose();
      client.end().catch(() => {});
      throw storeErrorOf(error);
    }
  };
  try {
    await client.connect();
  } catch (error) {
    throw storeErrorOf(error);
  }
  // If the client's machine disappears silently, the server detects it by these.
  await ask(`set idle_session_timeout = '${SESSION_TIMEOUT_SECONDS}s'; set tcp_keepalives_idle = 5;
    set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`);
  return {
    lost: lost.signal,
    get isOpen() {
      return !lost.signal.aborted;
    },
    ask,
    async beginTerm(counter) {
      await ask(BEGIN_WRITING);
      const [row] = await ask(`insert into counters (name, value) values ('${counter}', 1)
        on conflict (name) do update set value = counters.value + 1 returning value`);
      await ask('commit');
      return Number(row?.value);
    },
    async end() {
      lose();
      // A stalled server does not acknowledge the end of the connection.
      const timeout = new AbortController();
      const waited = delay(ANSWER_MS, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
      await Promise.race([client.end().catch(() => {}), waited]);
      timeout.abort();
    },
  };
}
