// Locks that one process of a store holds, with a term for each holder: on PostgreSQL an advisory lock of a session, on a connection of
// its own, which the server lets go with the connection; on SQLite a lock of the system on a file beside it, or none where one service
// has the store for itself anyway.
import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { lockFile } from '@strata/db';
import type { Kysely } from 'kysely';
import type pg from 'pg';
import type { Database } from '../../schema.ts';
import { bump, type CounterName, counterOf } from '../counters.ts';
import { BEGIN_WRITING, openClient } from '../dialects/postgres-dialect.ts';
import { StoreError, storeErrorOf } from '../store-error.ts';
import { writeTransaction } from './write-transaction.ts';

export interface TermHold extends AsyncDisposable {
  /** Greater with each holder. */
  readonly term: number;
  /** Aborts when the connection is lost: from then on another process may hold the lock. */
  readonly lost: AbortSignal;
}

export interface TermLock extends AsyncDisposable {
  /** Takes the lock, and begins a term; undefined while another process holds it. Must not be asked again while it is held. */
  tryTake(): Promise<TermHold | undefined>;
  /** The last term that any process has begun; 0 before the first. */
  lastTerm(): Promise<number>;
}

/** The number names the lock among other programs' on the same server, the counter holds its terms. */
const LOCKS = {
  scheduler: { number: 0x5354_5253, counter: 'scheduler-term' },
  gateway: { number: 0x5354_5247, counter: 'gateway-term' },
} as const;
export type TermLockName = keyof typeof LOCKS;
/**
 * A process that stands still, or whose machine is cut off, loses its session after this time; until then it gives a sign of life
 * at each beat, and hears of a broken connection at once.
 */
const SILENCE_SECONDS = 10;
const BEAT_MS = 1_000;
/** No answer within this time is a lost connection. */
const ANSWER_MS = 5_000;

/** Of a store that one service has for itself. */
export function soleLock(db: Kysely<Database>, name: TermLockName): TermLock {
  const { counter } = LOCKS[name];
  return {
    async tryTake() {
      const term = await writeTransaction(db, (tx) => bump(tx, counter));
      return { term, lost: new AbortController().signal, [Symbol.asyncDispose]: async () => {} };
    },
    lastTerm: () => counterOf(db, counter),
    async [Symbol.asyncDispose]() {},
  };
}

/** Of a SQLite file that processes might share; it cannot be lost but with the process. What is in memory nobody shares. */
export function fileLock(db: Kysely<Database>, name: TermLockName, file: string): TermLock {
  const sole = soleLock(db, name);
  if (file === ':memory:') return sole;
  let held: Disposable | undefined;
  const letGo = async () => {
    held?.[Symbol.dispose]();
    held = undefined;
  };
  return {
    async tryTake() {
      // Whatever path leads to it.
      try {
        held = lockFile(`${realpathSync(file)}.${name}.lock`);
      } catch (cause) {
        throw new StoreError('cannot-open', { cause });
      }
      if (!held) return undefined;
      const hold = await sole.tryTake();
      return hold && { ...hold, [Symbol.asyncDispose]: letGo };
    },
    lastTerm: sole.lastTerm,
    [Symbol.asyncDispose]: letGo,
  };
}

/** The connection is opened with the first try, kept while others hold the lock, and replaced when it was lost. */
export function sessionLock(db: Kysely<Database>, name: TermLockName, url: string): TermLock {
  const { number, counter } = LOCKS[name];
  let session: Session | undefined;
  return {
    async tryTake() {
      if (!session?.isOpen) session = await openSession(url, name);
      const own = session;
      const [held] = await own.ask(`select pg_try_advisory_lock(${number}, hashtext(current_schema())) as held`);
      if (held?.held !== true) return undefined;
      const term = await own.beginTerm(counter);
      const beat = setInterval(() => void own.ask('select 1').catch(() => {}), BEAT_MS);
      own.lost.addEventListener('abort', () => clearInterval(beat), { once: true });
      return {
        term,
        lost: own.lost,
        // The lock goes with the connection, also where the server does not answer any more.
        async [Symbol.asyncDispose]() {
          clearInterval(beat);
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
  /** Rejects with StoreError; whoever gets no answer has lost the connection. */
  ask(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** In the writers' turn, on the connection that holds the lock: a later holder's term is greater. */
  beginTerm(counter: CounterName): Promise<number>;
  end(): Promise<void>;
}

async function openSession(url: string, name: TermLockName): Promise<Session> {
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
      // What it has begun is not known to be over: the connection is of no more use, and the lock goes with it.
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
  // The client's machine may vanish without a word: then the server finds out by these.
  await ask(`set idle_session_timeout = '${SILENCE_SECONDS}s'; set tcp_keepalives_idle = 5;
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
      // A server that stands still does not say goodbye.
      const patience = new AbortController();
      const waited = delay(ANSWER_MS, undefined, { signal: patience.signal, ref: false }).catch(() => {});
      await Promise.race([client.end().catch(() => {}), waited]);
      patience.abort();
    },
  };
}
