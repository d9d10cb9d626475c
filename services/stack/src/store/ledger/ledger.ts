// The ledger of several nodes in the database: leaves, the hashes above them, and one head, whose row lock serializes appends.

import { type Kysely, sql, type Transaction } from 'kysely';
import type { Database } from '../schema.ts';

type Db = Kysely<Database>;

/** The one row of `ledger_head`. */
const HEAD = 1;
const HASH_BYTES = 32;
/** Limit for a writer that stalls while it holds the head; normally it takes some milliseconds. */
const IDLE_TIMEOUT_MS = 5_000;

/** The end of the ledger. */
export interface LedgerHead {
  /** First line of every checkpoint. */
  readonly origin: string;
  /** Number of leaves. */
  readonly size: number;
  /** 32 bytes, RFC 6962. */
  readonly root: Uint8Array;
  /** Hashes of the perfect subtrees at the right edge of the tree, left to right, 32 bytes each. */
  readonly edge: Uint8Array;
  /** The signed checkpoint. */
  readonly note: string;
}

/** Leaves to append after a head, and the new head. */
export interface LedgerGrowth {
  /** The head that the growth is based on. */
  readonly from: Pick<LedgerHead, 'size' | 'root'>;
  /** In order; the index of the first is the size of `from`. */
  readonly leaves: readonly { readonly hash: Uint8Array; readonly leaf: Uint8Array }[];
  /** Subtrees over 256^level leaves that became complete. */
  readonly subtrees: readonly { readonly level: number; readonly index: number; readonly hash: Uint8Array }[];
  readonly head: LedgerHead;
}

/** Writes the growth after the head that it is based on; returns false if the head has moved, and the transaction must be rolled back. */
export type GrowLedger = (growth: LedgerGrowth) => Promise<boolean>;

/**
 * Rows of the ledger. Only the head is ever updated. What a resolved `withHead` wrote is durable and visible to all nodes.
 * Methods reject with StoreError when the database fails.
 */
export class LedgerTable {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The committed head; undefined before `begin`. */
  async head(): Promise<LedgerHead | undefined> {
    return headOf(this.#db).executeTakeFirst();
  }

  /** Inserts the head of an empty ledger unless a head exists; returns the stored head. */
  async begin(head: LedgerHead): Promise<LedgerHead> {
    await this.#db
      .insertInto('ledger_head')
      .values({ id: HEAD, ...columnsOf(head) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return required(await this.head());
  }

  /**
   * Runs `work` in a transaction that locks the head, exclusively among all nodes. What it writes with `grow` is committed when
   * this resolves, and rolled back when `work` rejects. A writer that stalls for 5 s is rolled back, and its next statement
   * fails. The writer lock of the store is not used, so scans do not delay it. A table of an existing transaction uses that
   * transaction and its end.
   */
  async withHead<T>(work: (head: LedgerHead, grow: GrowLedger) => Promise<T>): Promise<T> {
    const db = this.#db;
    if (db.isTransaction)
      return work(required(await headOf(db).forUpdate().executeTakeFirst()), (growth) => write(db, growth));
    return db
      .transaction()
      .setIsolationLevel('read committed')
      .execute(async (tx) => {
        const head = required(await lockedHead(tx));
        return await work(head, (growth) => write(tx, growth));
      });
  }

  /**
   * Consecutive hashes of a level, concatenated, 32 bytes each: level 0 are leaves, higher levels subtrees of 256^level leaves.
   * Returns those of `count` from `from` on that exist.
   */
  async hashes(level: number, from: number, count: number): Promise<Uint8Array> {
    const [table, index, ofLevel] =
      level === 0
        ? [sql`ledger_leaves`, sql`leaf_index`, sql``]
        : [sql`ledger_subtrees`, sql`subtree_index`, sql`level = ${level} and`];
    const { rows } = await sql<{ hashes: Uint8Array | null }>`
      select string_agg(hash, ''::bytea order by ${index}) as hashes from ${table}
      where ${ofLevel} ${index} >= ${from} and ${index} < ${from + count}`.execute(this.#db);
    return rows[0]?.hashes ?? new Uint8Array();
  }

  /** Leaves from an index on, at most `count`. */
  async leaves(from: number, count: number): Promise<Uint8Array[]> {
    const rows = await this.#db
      .selectFrom('ledger_leaves')
      .select('leaf')
      .where('leaf_index', '>=', from)
      .where('leaf_index', '<', from + count)
      .orderBy('leaf_index')
      .execute();
    return rows.map(({ leaf }) => leaf);
  }

  /** Index of the first leaf whose hash begins with these bytes. */
  async find(hashPrefix: Uint8Array): Promise<number | undefined> {
    const last = new Uint8Array(HASH_BYTES).fill(0xff);
    last.set(hashPrefix);
    const row = await this.#db
      .selectFrom('ledger_leaves')
      .select('leaf_index')
      .where('hash', '>=', hashPrefix)
      .where('hash', '<=', last)
      .orderBy('hash')
      .orderBy('leaf_index')
      .limit(1)
      .executeTakeFirst();
    return row?.leaf_index;
  }
}

/** The tables of a ledger in the database. */
export interface LedgerTables {
  readonly log: LedgerTable;
  readonly keys: LedgerKeyTable;
}

/** Public keys by id, each as a text; a later text replaces an earlier one. */
export class LedgerKeyTable {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async all(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#db.selectFrom('ledger_keys').selectAll().execute();
    return new Map(rows.map(({ kid, key }) => [kid, key]));
  }

  async put(kid: string, key: string): Promise<void> {
    await this.#db
      .insertInto('ledger_keys')
      .values({ kid, key })
      .onConflict((conflict) => conflict.column('kid').doUpdateSet({ key }))
      .execute();
  }
}

const headOf = (db: Db) =>
  db.selectFrom('ledger_head').select(['origin', 'size', 'root', 'edge', 'note']).where('id', '=', HEAD);

/** Waits for the row lock of the head; afterwards the transaction is limited in idle time. */
async function lockedHead(tx: Transaction<Database>): Promise<LedgerHead | undefined> {
  const limit = sql`set_config('idle_in_transaction_session_timeout', ${sql.lit(String(IDLE_TIMEOUT_MS))}, true)`;
  return headOf(tx).select(limit.as('idle_limit')).forUpdate().executeTakeFirst();
}

function required(head: LedgerHead | undefined): LedgerHead {
  if (!head) throw new Error('the ledger has no head');
  return head;
}

/** One statement; the head moves only from its expected state, whichever process held the lock. */
async function write(tx: Db, growth: LedgerGrowth): Promise<boolean> {
  const { from, leaves, subtrees, head } = growth;
  const { numAffectedRows } = await sql`
    with added as (
      insert into ledger_leaves (leaf_index, hash, leaf)
      select ${from.size}::bigint + position - 1, hash, leaf
      from unnest(${leaves.map(({ hash }) => hash)}::bytea[], ${leaves.map(({ leaf }) => leaf)}::bytea[])
        with ordinality as given (hash, leaf, position)
    ), completed as (
      insert into ledger_subtrees (level, subtree_index, hash)
      select * from unnest(${subtrees.map(({ level }) => level)}::bigint[], ${subtrees.map(({ index }) => index)}::bigint[],
        ${subtrees.map(({ hash }) => hash)}::bytea[])
    )
    update ledger_head set size = ${head.size}, root = ${head.root}, edge = ${head.edge}, note = ${head.note}
    where id = ${HEAD} and origin = ${head.origin} and size = ${from.size} and root = ${from.root}`.execute(tx);
  return numAffectedRows === 1n;
}

const columnsOf = ({ origin, size, root, edge, note }: LedgerHead) => ({ origin, size, root, edge, note });
