// API keys: shown once, kept as a hash. Free ones are limited per address.
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type Kysely, sql, type Transaction } from 'kysely';
import { bump } from '../db/counters.ts';
import { listed } from '../db/statements/json-rows.ts';
import { writeTransaction } from '../db/transactions/write-transaction.ts';
import type { Database } from '../schema.ts';

/** Requests a UTC day by tier; null is unlimited. */
export const TIERS = { free: 50, standard: 10_000, unlimited: null } as const satisfies Record<string, number | null>;
export type Tier = keyof typeof TIERS;

export function isTier(text: string): text is Tier {
  return Object.hasOwn(TIERS, text);
}

/** Whose answers come first where there are more than places: by shares, so that the lowest comes too. */
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
}

/** Of the stack service; the inference service's begin as its clients expect. A key is of the service whose prefix it has. */
export const KEY_PREFIXES = ['ssk_', 'sk-'] as const;
export type KeyPrefix = (typeof KEY_PREFIXES)[number];
const secretPattern = /^[A-Za-z0-9_-]{43}$/;
/** First character of an origin: it sorts after the digits and a to f with which origins of earlier releases begin. */
const DAY_MARK = 'n';

/** A network that free keys are counted for, and how many times the limit of one address it has. */
export interface Origin {
  readonly name: string;
  readonly times: number;
}

export class KeyTable {
  readonly #db: Kysely<Database>;
  readonly #now: () => Date;
  readonly #salt: string;
  readonly #prefix: KeyPrefix;

  private constructor(db: Kysely<Database>, parts: { now: () => Date; salt: string; prefix: KeyPrefix }) {
    this.#db = db;
    this.#now = parts.now;
    this.#salt = parts.salt;
    this.#prefix = parts.prefix;
  }

  static async open(
    db: Kysely<Database>,
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

  /** Makes a key. The returned `key` is the only copy there will ever be. */
  async create({
    tier,
    priority = 'normal',
    label,
  }: NewKey): Promise<{ readonly key: string; readonly stored: StoredKey }> {
    return this.#insert(this.#db, { tier, priority, label: label ?? null, origin: null });
  }

  /**
   * Makes a free key for the first of these networks, or undefined when one of them has got its limit in this UTC day: `perDay`
   * times its `times`. The narrowest comes first, all clients last. They are kept as salted hashes. The day is the latest for which
   * a key was made, where the clock was set back. The key is of low priority: keys that the operator made go first.
   */
  async issue(
    networks: readonly Origin[],
    { perDay }: { readonly perDay: number },
  ): Promise<{ readonly key: string; readonly stored: StoredKey } | undefined> {
    const today = DAY_MARK + this.#now().toISOString().slice(0, 10).replaceAll('-', '');
    return writeTransaction(this.#db, async (tx) => {
      let origin = await issuingDay(tx, today);
      // The widest network first: origins that are counted together have the same beginning, so they are neighbors in the index.
      const counted = networks.toReversed().map(({ name, times }) => {
        // 64 bits distinguish the networks of a day.
        origin += this.saltedHash(name).slice(0, 16);
        return { prefix: origin, limit: perDay * times };
      });
      if (await isOneFull(tx, counted)) return undefined;
      return this.#insert(tx, { tier: 'free', priority: 'low', label: null, origin });
    });
  }

  /** An address or network as it is kept: a salted hash, hex. */
  saltedHash(name: string): string {
    return createHmac('sha256', this.#salt).update(name).digest('hex');
  }

  /** The key behind a presented text; undefined when unknown or revoked. */
  async find(presented: string): Promise<StoredKey | undefined> {
    const secret = presented.startsWith(this.#prefix) ? presented.slice(this.#prefix.length) : '';
    if (!secretPattern.test(secret)) return undefined;
    const row = await this.#db
      .selectFrom('api_keys')
      .where('hash', '=', hashOf(presented))
      .where('revoked_at', 'is', null)
      .selectAll()
      .executeTakeFirst();
    return row && storedKey(row);
  }

  /** Of these ids, those of keys that were not revoked. */
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

  /** Whether there was such a key that was not revoked yet. */
  async revoke(id: string): Promise<boolean> {
    return writeTransaction(this.#db, async (tx) => {
      const result = await tx
        .updateTable('api_keys')
        .set({ revoked_at: this.#now().getTime() })
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      if (Number(result.numUpdatedRows) !== 1) return false;
      // Whoever remembers keys forgets them.
      await bump(tx, 'keys');
      return true;
    });
  }

  async #insert(
    db: Kysely<Database>,
    values: { tier: Tier; priority: Priority; label: string | null; origin: string | null },
  ) {
    const key = this.#prefix + randomBytes(32).toString('base64url');
    const row = {
      id: `key_${randomUUID().replaceAll('-', '').slice(0, 16)}`,
      hash: hashOf(key),
      created_at: this.#now().getTime(),
      revoked_at: null,
      ...values,
    };
    await db.insertInto('api_keys').values(row).execute();
    return { key, stored: storedKey(row) };
  }
}

/** The latest day for which a free key was made, where the clock says an earlier one; else today. */
async function issuingDay(tx: Transaction<Database>, today: string): Promise<string> {
  const latest = await tx
    .selectFrom('api_keys')
    .where('origin', '>=', today)
    .orderBy('origin', 'desc')
    .limit(1)
    .select('origin')
    .executeTakeFirst();
  return latest?.origin?.slice(0, today.length) ?? today;
}

/** Whether `limit` keys have an origin that begins with one of these prefixes. No count exceeds its limit, so none grows with the history. */
async function isOneFull(
  tx: Transaction<Database>,
  counted: readonly { readonly prefix: string; readonly limit: number }[],
): Promise<boolean> {
  const full = counted.map(
    // What follows a prefix is digits and a to f, which every collation sorts before g.
    ({ prefix, limit }) => sql`(select count(*) from (
      select 1 from api_keys where origin >= ${prefix} and origin < ${`${prefix}g`} limit ${limit}) as begun) >= ${limit}`,
  );
  const { rows } = await sql<{
    n: number;
  }>`select case when ${sql.join(full, sql` or `)} then 1 else 0 end as n`.execute(tx);
  return rows[0]?.n === 1;
}

/** 256 random bits need no slow hash. */
function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function storedKey(row: Database['api_keys']): StoredKey {
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
