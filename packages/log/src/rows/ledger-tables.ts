// The rows of a ledger in SQLite or PostgreSQL: leaves, the hashes above them, one head whose lock serializes appends, and public keys.
import { executePipelined, isPostgres } from '@strata/db';
import { type Kysely, sql } from 'kysely';
import type { SealedSubtree } from './tree-edge.ts';

/** The tables, as the released migration of the PostgreSQL store creates them. */
export interface LedgerDatabase {
  readonly ledger_head: LedgerHead & {
    /** Always 1. */
    readonly id: number;
  };
  readonly ledger_leaves: {
    readonly leaf_index: number;
    /** RFC 6962 leaf hash. */
    readonly hash: Uint8Array;
    readonly leaf: Uint8Array;
  };
  readonly ledger_subtrees: {
    /** Tile level: 1 covers 256 leaves, 2 covers 65,536. */
    readonly level: number;
    readonly subtree_index: number;
    readonly hash: Uint8Array;
  };
  readonly ledger_keys: {
    readonly kid: string;
    /** JSON of a public key and its days of validity, signed by the ledger's key. */
    readonly key: string;
  };
}

type Db = Kysely<LedgerDatabase>;

export interface LedgerTableOptions {
  /** PostgreSQL only: `withHead` writes no batch with a leaf that the ledger already has. */
  readonly isUnique?: boolean;
}

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
  /** Bytes of a `TreeEdge`. */
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
  readonly subtrees: readonly SealedSubtree[];
  readonly head: LedgerHead;
  /** Commits in the same round trip: no statement of the transaction may follow. */
  readonly isLast?: boolean;
}

/**
 * Writes the growth after the head that it is based on; returns false, and writes nothing, if the head has moved or a leaf is not
 * unique.
 */
export type GrowLedger = (growth: LedgerGrowth) => Promise<boolean>;

/**
 * Only the head is ever updated. What a resolved `withHead` wrote is durable and visible to all nodes. Methods reject with
 * StoreError when the database fails; a rejected `withHead` may have been committed, if the connection broke during the commit.
 */
export class LedgerTable {
  readonly #db: Db;
  readonly #options: LedgerTableOptions;

  constructor(db: Db, options: LedgerTableOptions = {}) {
    this.#db = db;
    this.#options = options;
  }

  /** The committed head; undefined before `begin`. */
  async head(): Promise<LedgerHead | undefined> {
    return headOf(this.#db).executeTakeFirst();
  }

  /** Inserts the head of an empty ledger unless a head exists; returns the stored head. */
  async begin({ origin, size, root, edge, note }: LedgerHead): Promise<LedgerHead> {
    await this.#db
      .insertInto('ledger_head')
      .values({ id: HEAD, origin, size, root, edge, note })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
    return required(await this.head());
  }

  /**
   * Runs `work` in a transaction that locks the head, exclusively among all nodes. What it writes with `grow` is committed when
   * this resolves, and rolled back when `work` rejects. On PostgreSQL a writer that stalls for 5 s is rolled back, and its next
   * statement fails; the writer lock of the store is not used, so scans do not delay it. A table of an existing transaction uses
   * that transaction and its end.
   */
  async withHead<T>(work: (head: LedgerHead, grow: GrowLedger) => Promise<T>): Promise<T> {
    const db = this.#db;
    const isOwn = !db.isTransaction;
    const within = async (tx: Db) =>
      work(required(await lockedHead(tx)), (growth) =>
        write(tx, { ...growth, isLast: isOwn && growth.isLast === true }, this.#options),
      );
    return !isOwn ? within(db) : db.transaction().setIsolationLevel('read committed').execute(within);
  }

  /** Replaces the origin of the head, so that no node appends to the log; returns false if the head has moved. */
  async close({ size, root }: Pick<LedgerHead, 'size' | 'root'>, origin: string): Promise<boolean> {
    const { numAffectedRows } = await sql`update ledger_head set origin = ${origin}
      where id = ${HEAD} and size = ${size} and root = ${root}`.execute(this.#db);
    return numAffectedRows === 1n;
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
    const range = sql`from ${table} where ${ofLevel} ${index} >= ${from} and ${index} < ${from + count}`;
    // SQLite aggregates texts only.
    const all = isPostgres(this.#db)
      ? sql`string_agg(hash, ''::bytea order by ${index})`
      : sql`group_concat(hex(hash), '' order by ${index})`;
    const { rows } = await sql<{ hashes: Uint8Array | string | null }>`select ${all} as hashes ${range}`.execute(
      this.#db,
    );
    const hashes = rows[0]?.hashes ?? '';
    return typeof hashes === 'string' ? Buffer.from(hashes, 'hex') : hashes;
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
    const leaves = this.#db.selectFrom('ledger_leaves').select('leaf_index');
    // The index of the SQLite file has 8 bytes of each hash.
    const indexed = isPostgres(this.#db)
      ? leaves
      : leaves.where(sql`substr(hash, 1, 8)`, '=', hashPrefix.subarray(0, 8));
    const row = await indexed
      .where('hash', '>=', hashPrefix)
      .where('hash', '<=', last)
      .orderBy('hash')
      .orderBy('leaf_index')
      .limit(1)
      .executeTakeFirst();
    return row?.leaf_index;
  }
}

/** Texts by id, visible to every node when `put` resolves; a later text replaces an earlier one. */
export interface KeyStorage {
  all(): Promise<ReadonlyMap<string, string>>;
  put(id: string, text: string): Promise<void>;
}

/** Public keys by id. */
class LedgerKeyTable implements KeyStorage {
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

/** The tables of a ledger in a database. */
export interface LedgerTables {
  readonly log: LedgerTable;
  readonly keys: KeyStorage;
}

/** The tables in a database that may have further ones. */
export function ledgerTablesIn<Tables extends LedgerDatabase>(
  db: Kysely<Tables>,
  options: LedgerTableOptions = {},
): LedgerTables {
  const own = db as unknown as Db;
  return { log: new LedgerTable(own, options), keys: new LedgerKeyTable(own) };
}

const headOf = (db: Db) =>
  db.selectFrom('ledger_head').select(['origin', 'size', 'root', 'edge', 'note']).where('id', '=', HEAD);

/** On PostgreSQL waits for the row lock of the head, and limits the transaction in idle time; on SQLite the transaction has the write lock. */
async function lockedHead(tx: Db): Promise<LedgerHead | undefined> {
  if (!isPostgres(tx)) return headOf(tx).executeTakeFirst();
  const limit = sql`set_config('idle_in_transaction_session_timeout', ${sql.lit(String(IDLE_TIMEOUT_MS))}, true)`;
  return headOf(tx).select(limit.as('idle_limit')).forUpdate().executeTakeFirst();
}

function required(head: LedgerHead | undefined): LedgerHead {
  if (!head) throw new Error('the ledger has no head');
  return head;
}

/** The head moves only from its expected state, whichever process held the lock, and the leaves are written only with it. */
async function write(tx: Db, growth: LedgerGrowth, { isUnique = false }: LedgerTableOptions): Promise<boolean> {
  const { from, leaves, subtrees, head, isLast = false } = growth;
  const hashes = leaves.map(({ hash }) => hash);
  const contents = leaves.map(({ leaf }) => leaf);
  const move = sql`update ledger_head set size = ${head.size}, root = ${head.root}, edge = ${head.edge}, note = ${head.note}
    where id = ${HEAD} and origin = ${head.origin} and size = ${from.size} and root = ${from.root}`;
  if (isPostgres(tx)) {
    // The statement does not find the leaves that it adds.
    const isNew = isUnique
      ? sql`and not exists (select 1 from ledger_leaves where hash = any(${hashes}::bytea[]))`
      : sql``;
    // One statement, for one round trip.
    const all = sql`
      with moved as (${move} ${isNew} returning id), added as (
        insert into ledger_leaves (leaf_index, hash, leaf)
        select ${from.size}::bigint + position - 1, hash, leaf
        from unnest(${hashes}::bytea[], ${contents}::bytea[]) with ordinality as given (hash, leaf, position)
        where exists (select from moved)
      ), completed as (
        insert into ledger_subtrees (level, subtree_index, hash)
        select * from unnest(${subtrees.map(({ level }) => level)}::bigint[], ${subtrees.map(({ index }) => index)}::bigint[],
          ${subtrees.map(({ hash }) => hash)}::bytea[]) where exists (select from moved)
      ) select from moved`.compile(tx);
    const [{ numAffectedRows }] = await executePipelined(tx, [all], { isLast });
    return numAffectedRows === 1n;
  }
  // SQLite has no arrays: `substr` cuts the leaves out of one parameter.
  let at = 1;
  const spans = contents.map(({ length }) => {
    at += length;
    return [at - length, length];
  });
  const isMoved = sql`(select size = ${head.size} and root = ${head.root} from ledger_head where id = ${HEAD})`;
  const added = sql`insert into ledger_leaves (leaf_index, hash, leaf)
    select ${from.size} + key, substr(${Buffer.concat(hashes)}, ${HASH_BYTES} * key + 1, ${HASH_BYTES}),
      coalesce(substr(${Buffer.concat(contents)}, value ->> 0, value ->> 1), x'')
    from json_each(${JSON.stringify(spans)}) where ${isMoved}`;
  const completed = subtrees.map(
    ({ level, index, hash }) =>
      sql`insert into ledger_subtrees (level, subtree_index, hash) select ${level}, ${index}, ${hash} where ${isMoved}`,
  );
  const queries = [move, added, ...completed].map((query) => query.compile(tx));
  const [moved] = await executePipelined(tx, queries, { isLast });
  return moved?.numAffectedRows === 1n;
}
