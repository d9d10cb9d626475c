// The ledger of several nodes: every leaf, the hashes above them, and one head, whose row is the lock of whoever appends.
import { type Kysely, sql, type Transaction } from 'kysely';
import { readSetting, writeSetting } from '../../db/settings.ts';
import type { Database } from '../../schema.ts';

type Db = Kysely<Database>;

/** The one row of `ledger_head`. */
const HEAD = 1;
const HASH_BYTES = 32;
/** A writer that stands still in its turn ends after this; a turn takes some milliseconds. */
const IDLE_TURN_MS = 5_000;

/** Where the ledger ends. */
export interface LedgerHead {
  /** First line of every checkpoint. */
  readonly origin: string;
  /** Leaves. */
  readonly size: number;
  /** 32 bytes, RFC 6962. */
  readonly root: Uint8Array;
  /** Hashes of the perfect subtrees that make up the tree, left to right, 32 bytes each. */
  readonly edge: Uint8Array;
  /** The checkpoint, signed. */
  readonly note: string;
}

/** What is added behind a head, and the head that it leads to. */
export interface LedgerGrowth {
  /** The head that it was made for. */
  readonly from: Pick<LedgerHead, 'size' | 'root'>;
  /** In order; the first stands at the size of the head before. */
  readonly leaves: readonly { readonly hash: Uint8Array; readonly leaf: Uint8Array }[];
  /** The subtrees over 256^level leaves that became complete. */
  readonly subtrees: readonly { readonly level: number; readonly index: number; readonly hash: Uint8Array }[];
  readonly head: LedgerHead;
}

/** Writes growth behind the head that it was made for; false when that is not the head (any more), and nothing may stay written. */
export type GrowLedger = (growth: LedgerGrowth) => Promise<boolean>;

/**
 * Rows of the ledger; nothing in them is ever changed but the head. What a resolved `inTurn` wrote is durable, and every node reads it
 * from then on. Methods reject with StoreError when the database fails.
 */
export class LedgerTable {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The head as it was last committed; undefined before `begin`. */
  async head(): Promise<LedgerHead | undefined> {
    return headOf(this.#db).executeTakeFirst();
  }

  /** Puts the head of an empty ledger where there is none; answers the one that is there. */
  async begin(head: LedgerHead): Promise<LedgerHead> {
    await this.#db
      .insertInto('ledger_head')
      .values({ id: HEAD, ...columnsOf(head) })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return required(await this.head());
  }

  /**
   * Runs `work` alone among all nodes, in one transaction that has locked the head: what it writes with `grow` is there for all when
   * this resolves, and not at all when `work` throws. A writer that stands still for 5 s loses its turn: what it had written is
   * gone, and its next statement fails. Waiting for scans and other writers of the store is no part of it. Of a table that was made
   * of a transaction the turn is part of that, and ends with it.
   */
  async inTurn<T>(work: (head: LedgerHead, grow: GrowLedger) => Promise<T>): Promise<T> {
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
   * Hashes of a level side by side, 32 bytes each: 0 are leaves, above it subtrees of 256^level leaves. Those that are there of
   * `count` from `from` on.
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

  /** Leaves from an index on, those that are there of so many. */
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

/** The newest checkpoint of a ledger in a folder, kept here too: a folder that lost leaves cannot lose it with them. */
export class LedgerCheckpoint {
  readonly #db: Db;
  readonly #name: string;

  constructor(db: Db, origin: string) {
    this.#db = db;
    this.#name = checkpointName(origin);
  }

  /** The signed note; undefined before the first. */
  async read(): Promise<string | undefined> {
    return readSetting(this.#db, this.#name);
  }

  async write(value: string): Promise<void> {
    await this.#db.executeQuery(writeSetting(this.#db, this.#name, value));
  }
}

/** Its row of `settings`: a log that begins under another name is another log. */
export const checkpointName = (origin: string): string => `ledger-checkpoint ${origin}`;

/** Both tables of a database's ledger. */
export interface LedgerTables {
  readonly log: LedgerTable;
  readonly keys: LedgerKeyTable;
}

/** Public keys by their id, each as a text of its own; what is known of one is replaced by what is said later. */
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

/** Waits for the turns before it; from then on the transaction may not stand still. */
async function lockedHead(tx: Transaction<Database>): Promise<LedgerHead | undefined> {
  const limit = sql`set_config('idle_in_transaction_session_timeout', ${sql.lit(String(IDLE_TURN_MS))}, true)`;
  return headOf(tx).select(limit.as('idle_limit')).forUpdate().executeTakeFirst();
}

function required(head: LedgerHead | undefined): LedgerHead {
  if (!head) throw new Error('the ledger has no head');
  return head;
}

/** In one statement; the head moves only from where it was, whoever held the lock. */
async function write(tx: Db, growth: LedgerGrowth): Promise<boolean> {
  const { from, leaves, subtrees, head } = growth;
  const { numAffectedRows } = await sql`
    with added as (
      insert into ledger_leaves (leaf_index, hash, leaf)
      select ${from.size}::bigint + place - 1, hash, leaf
      from unnest(${leaves.map(({ hash }) => hash)}::bytea[], ${leaves.map(({ leaf }) => leaf)}::bytea[])
        with ordinality as given (hash, leaf, place)
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
