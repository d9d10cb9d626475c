// API keys: returned once, stored as a hash. Free keys are limited per address.
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { incrementCounter } from '../counters.ts';
import { listed } from '../statements/json-rows.ts';
import type { CommonTables, Connection } from '../tables.ts';
import { writeTransaction } from '../transactions/write-transaction.ts';

/** Requests a UTC day by tier; null is unlimited. */
export const TIERS = { free: 50, standard: 10_000, unlimited: null } as const satisfies Record<string, number | null>;
export type Tier = keyof typeof TIERS;

export function isTier(text: string): text is Tier {
  return Object.hasOwn(TIERS, text);
}

/** Priority under load: capacity is divided by weight, so that the lowest still gets a share. */
export const PRIORITIES = ['low', 'normal', 'high'] as const;
export type Priority = (typeof PRIORITIES)[number];

export function isPriority(text: string): text is Priority {
  return (PRIORITIES as readonly string[]).includes(text);
}

export interface StoredKey {
  readonly id: string;
  readonly tier: Tier;
  readonly priority: Priority;
  readonly dailyLimit: number | null;
  readonly label: string | null;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

export interface NewKey {
  readonly tier: Tier;
  /** `normal` by default. */
  readonly priority?: Priority;
  readonly label?: string;
  /** Columns that only the database of the gateway has. */
  readonly columns?: Pick<KeyRow, 'team' | 'policy'>;
}

export type KeyRow = CommonTables['api_keys'];

/** Of the stack service, and of the inference service. The prefix determines the service of a key. */
const KEY_PREFIXES = ['ssk_', 'sk-'] as const;
export type KeyPrefix = (typeof KEY_PREFIXES)[number];
const secretPattern = /^[A-Za-z0-9_-]{43}$/;
/** First character of an origin: it sorts after 0-9 and a-f, with which the origins of earlier releases begin. */
const DAY_MARK = 'n';

/** A network whose free keys are counted, and its limit as a multiple of the limit of one address. */
interface Origin {
  readonly name: string;
  readonly times: number;
}

export class KeyTable {
  readonly #db: Kysely<CommonTables>;
  readonly #now: () => Date;
  readonly #salt: string;
  readonly #prefix: KeyPrefix;

  private constructor(db: Kysely<CommonTables>, options: { now: () => Date; salt: string; prefix: KeyPrefix }) {
    this.#db = db;
    this.#now = options.now;
    this.#salt = options.salt;
    this.#prefix = options.prefix;
  }

  static async open(
    db: Kysely<CommonTables>,
    { now, prefix }: { readonly now: () => Date; readonly prefix: KeyPrefix },
  ): Promise<KeyTable> {
    const value = randomBytes(32).toString('base64');
    await db
      .insertInto('settings')
      .values({ name: 'address-salt', value })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    const row = await db
      .selectFrom('settings')
      .where('name', '=', 'address-salt')
      .select('value')
      .executeTakeFirstOrThrow();
    return new KeyTable(db, { now, salt: row.value, prefix });
  }

  /** Creates a key. The returned `key` is not stored and cannot be read again. */
  async create(
    { tier, priority = 'normal', label, columns = {} }: NewKey,
    db: Connection<CommonTables> = this.#db,
  ): Promise<{ readonly key: string; readonly stored: StoredKey }> {
    return this.#insert(db, { tier, priority, label: label ?? null, origin: null, ...columns });
  }

  /**
   * Creates a free key for the first of these networks, or returns undefined if one of them has reached its limit for this UTC
   * day: `perDay` × its `times`. The narrowest network comes first, all clients last. Networks are stored as salted hashes.
   * If the clock was set back, the latest day with a key counts. The key has low priority, below keys of the operator.
   */
  async issue(
    networks: readonly Origin[],
    { perDay }: { readonly perDay: number },
  ): Promise<{ readonly key: string; readonly stored: StoredKey } | undefined> {
    const today = DAY_MARK + this.#now().toISOString().slice(0, 10).replaceAll('-', '');
    return writeTransaction(this.#db, async (tx) => {
      let origin = await issuingDay(tx, today);
      // The widest network first: nested networks share a prefix, so they are neighbors in the index.
      const counted = networks.toReversed().map(({ name, times }) => {
        // 64 bits are enough to distinguish the networks of a day.
        origin += this.saltedHash(name).slice(0, 16);
        return { prefix: origin, limit: perDay * times };
      });
      if (await isOneFull(tx, counted)) return undefined;
      return this.#insert(tx, { tier: 'free', priority: 'low', label: null, origin });
    });
  }

  /** The stored form of an address or network: a salted hash, hex. */
  saltedHash(name: string): string {
    return createHmac('sha256', this.#salt).update(name).digest('hex');
  }

  /** The key behind a presented text; undefined when unknown or revoked. */
  async find(presented: string): Promise<StoredKey | undefined> {
    const hash = presentedHash(presented, this.#prefix);
    if (hash === undefined) return undefined;
    const row = await this.#db
      .selectFrom('api_keys')
      .where('hash', '=', hash)
      .where('revoked_at', 'is', null)
      .selectAll()
      .executeTakeFirst();
    return row && storedKey(row);
  }

  /** Of these ids, those of keys that exist and are not revoked. */
  async stillValid(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#db
      .selectFrom('api_keys')
      .where('id', 'in', listed(this.#db, ids))
      .where('revoked_at', 'is', null)
      .select('id')
      .execute();
    return new Set(rows.map(({ id }) => id));
  }

  /** All keys, oldest first. */
  async list(): Promise<StoredKey[]> {
    const rows = await this.#db.selectFrom('api_keys').orderBy('created_at').orderBy('id').selectAll().execute();
    return rows.map(storedKey);
  }

  /** Returns whether the key existed and was not revoked yet. `also`: in the same transaction. */
  async revoke(id: string, also?: (tx: Transaction<CommonTables>) => Promise<void>): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      const result = await tx
        .updateTable('api_keys')
        .set({ revoked_at: this.#now().getTime() })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      if (Number(result.numUpdatedRows) !== 1) return false;
      // Signals other processes to drop their cached keys.
      await incrementCounter(tx, 'keys');
      await also?.(tx);
      return true;
    });
  }

  async #insert(
    db: Connection<CommonTables>,
    values: { tier: Tier; priority: Priority; label: string | null; origin: string | null } & NewKey['columns'],
  ) {
    const { key, hash } = newSecret(this.#prefix);
    const row = {
      id: `key_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
      hash,
      created_at: this.#now().getTime(),
      revoked_at: null,
      ...values,
    };
    await db.insertInto('api_keys').values(row).execute();
    return { key, stored: storedKey(row) };
  }
}

/** The latest day with a free key, if it is after today by the clock; else today. */
async function issuingDay(tx: Transaction<CommonTables>, today: string): Promise<string> {
  const latest = await tx
    .selectFrom('api_keys')
    .where('origin', '>=', today)
    .orderBy('origin', 'desc')
    .limit(1)
    .select('origin')
    .executeTakeFirst();
  return latest?.origin?.slice(0, today.length) ?? today;
}

/** Whether `limit` keys have an origin with one of these prefixes. Each count stops at its limit, so its cost does not grow with the history. */
async function isOneFull(
  tx: Transaction<CommonTables>,
  counted: readonly { readonly prefix: string; readonly limit: number }[],
): Promise<boolean> {
  const full = counted.map(
    // A prefix is followed by 0-9 and a-f, which every collation sorts before g.
    ({ prefix, limit }) => sql`(select count(*) from (
      select 1 from api_keys where origin >= ${prefix} and origin < ${`${prefix}g`} limit ${limit}) as begun) >= ${limit}`,
  );
  const { rows } = await sql<{
    n: number;
  }>`select case when ${sql.join(full, sql` or `)} then 1 else 0 end as n`.execute(tx);
  return rows[0]?.n === 1;
}

/** A key has 256 random bits, so a slow hash is not needed. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** A new key, and its hash. */
export function newSecret(prefix: KeyPrefix): { readonly key: string; readonly hash: string } {
  const key = prefix + randomBytes(32).toString('base64url');
  return { key, hash: hashOf(key) };
}

/** The hash of a presented key; undefined for a text that is not a key of this service. */
export function presentedHash(presented: string, prefix: KeyPrefix): string | undefined {
  const secret = presented.startsWith(prefix) ? presented.slice(prefix.length) : '';
  return secretPattern.test(secret) ? hashOf(presented) : undefined;
}

export function storedKey(row: KeyRow): StoredKey {
  const tier = isTier(row.tier) ? row.tier : 'free';
  return {
    id: row.id,
    tier,
    priority: isPriority(row.priority) ? row.priority : 'normal',
    dailyLimit: TIERS[tier],
    label: row.label,
    createdAt: new Date(row.created_at),
    revokedAt: row.revoked_at === null ? null : new Date(row.revoked_at),
  };
}
