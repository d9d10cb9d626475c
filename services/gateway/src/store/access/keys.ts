// The keys of the gateway: those of any service, with a policy and a team, changed and rotated, each change logged.
import {
  type CommonTables,
  incrementCounter,
  type KeyRow,
  type KeyTable,
  newSecret,
  type Priority,
  presentedHash,
  type StoredKey,
  storedKey,
  type Tier,
  toJson,
  writeTransaction,
} from '@strata/db';
import { type Kysely, sql, type Transaction } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { type Actor, LOCAL, logAction } from './audit.ts';
import { type Access, type GatewayKey, type KeyPolicy, NO_POLICY, type Policy, teamSubject } from './policy.ts';

export interface NewGatewayKey {
  readonly tier: Tier;
  readonly priority?: Priority;
  readonly label?: string;
  /** Of a team that exists. A key stays in its team. */
  readonly team?: string | null;
  readonly policy?: Partial<KeyPolicy>;
}

/** Fields to replace; the rest stays as it is. */
export interface KeyChange extends Partial<Omit<KeyPolicy, 'isAdmin'>> {
  readonly tier?: Tier;
  readonly priority?: Priority;
  readonly label?: string | null;
}

interface JoinedRow extends KeyRow {
  readonly team_policy: string | null;
}

const PREFIX = 'sk-';

export class GatewayKeys {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #keys: KeyTable;
  readonly #now: () => Date;

  constructor(db: Kysely<GatewayDatabase>, { keys, now }: { readonly keys: KeyTable; readonly now: () => Date }) {
    this.#db = db;
    this.#keys = keys;
    this.#now = now;
  }

  /** Returns the key, which cannot be read again. */
  async create(
    { team = null, policy, ...key }: NewGatewayKey,
    actor: Actor = LOCAL,
  ): Promise<{ readonly key: string; readonly stored: GatewayKey }> {
    const columns = { team, ...(policy ? { policy: toJson({ ...NO_POLICY, ...policy }) } : {}) };
    return writeTransaction(this.#db, async (tx) => {
      // With the tables of every service.
      const common = tx as unknown as Transaction<CommonTables>;
      if (team !== null) await tx.selectFrom('teams').where('id', '=', team).select('id').executeTakeFirstOrThrow();
      const made = await this.#keys.create({ ...key, columns }, common);
      const stored = (await this.#read(tx, made.stored.id)) ?? notCreated();
      await this.#log(tx, actor, { action: 'key.create', id: stored.id, before: null, after: stored });
      return { key: made.key, stored };
    });
  }

  issue(...asked: Parameters<KeyTable['issue']>): ReturnType<KeyTable['issue']> {
    return this.#keys.issue(...asked);
  }

  /** Of these ids, those of keys that exist and are not revoked. */
  stillValid(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#keys.stillValid(ids);
  }

  /** The key behind a presented text; undefined when unknown, revoked or expired. */
  async find(presented: string): Promise<GatewayKey | undefined> {
    const hash = presentedHash(presented, PREFIX);
    if (hash === undefined) return undefined;
    const [row] = await this.#joined().where('hash', '=', hash).where('revoked_at', 'is', null).execute();
    const key = row ? gatewayKey(row) : await this.#findPrevious(hash);
    return key && (key.validUntil ?? Number.POSITIVE_INFINITY) > this.#now().getTime() ? key : undefined;
  }

  /** By a secret that a rotation has replaced: valid to the end of the overlap. */
  async #findPrevious(hash: string): Promise<GatewayKey | undefined> {
    const [row] = await this.#joined().where('previous_hash', '=', hash).where('revoked_at', 'is', null).execute();
    if (!row) return undefined;
    const key = gatewayKey(row);
    return { ...key, validUntil: Math.min(row.previous_until ?? 0, key.validUntil ?? Number.POSITIVE_INFINITY) };
  }

  /** All keys, oldest first; or a page, newest first: from before one of them, of one team or all. */
  async list(page?: KeyPage): Promise<readonly GatewayKey[]> {
    const order = page ? 'desc' : 'asc';
    let query = this.#joined().orderBy('api_keys.created_at', order).orderBy('api_keys.id', order);
    if (page) query = query.limit(page.limit);
    if (page?.team !== undefined) query = query.where('team', '=', page.team);
    if (page?.before) {
      const { createdAtMs, id } = page.before;
      query = query.where(sql<boolean>`(api_keys.created_at, api_keys.id) < (${createdAtMs}, ${id})`);
    }
    return (await query.execute()).map(gatewayKey);
  }

  /** Also a revoked one. */
  get(id: string): Promise<GatewayKey | undefined> {
    return this.#read(this.#db, id);
  }

  /** Replaces fields of a key that is not revoked; undefined if it does not exist. Other gateways follow within a second. */
  async change(id: string, change: KeyChange, actor: Actor = LOCAL): Promise<GatewayKey | undefined> {
    return this.#update(id, { actor, action: 'key.change' }, ({ access, ...before }) => {
      const { tier = before.tier, priority = before.priority, label = before.label, ...policy } = change;
      const changed: KeyPolicy = { ...(access?.policy ?? NO_POLICY), ...policy };
      return { tier, priority, label, policy: toJson(changed) };
    });
  }

  /**
   * Gives a key that is not revoked another secret. The one before stays valid for the overlap; an earlier one ends. Limits
   * and usage are those of the key. Undefined if there is no such key.
   */
  async rotate(
    id: string,
    { overlapMs }: { readonly overlapMs: number },
    actor: Actor = LOCAL,
  ): Promise<{ readonly key: string; readonly stored: GatewayKey } | undefined> {
    const { key, hash } = newSecret(PREFIX);
    const until = this.#now().getTime() + overlapMs;
    const stored = await this.#update(id, { actor, action: 'key.rotate' }, (_before, row) => ({
      ...{ hash, previous_hash: row.hash, previous_until: until },
    }));
    return stored && { key, stored };
  }

  /** Returns whether the key existed and was not revoked yet. */
  async revoke(id: string, actor: Actor = LOCAL): Promise<boolean> {
    return this.#keys.revoke(id, async (common) => {
      // A transaction of this database.
      const tx = common as unknown as Transaction<GatewayDatabase>;
      const key = await this.#read(tx, id);
      if (key) await this.#log(tx, actor, { action: 'key.revoke', id, before: key, after: null });
    });
  }

  #update(
    id: string,
    { actor, action }: { readonly actor: Actor; readonly action: string },
    changeOf: (key: GatewayKey, row: JoinedRow) => Partial<KeyRow>,
  ): Promise<GatewayKey | undefined> {
    return writeTransaction(this.#db, async (tx) => {
      const [row] = await this.#joined(tx).where('api_keys.id', '=', id).where('revoked_at', 'is', null).execute();
      if (!row) return undefined;
      const before = gatewayKey(row);
      await tx.updateTable('api_keys').set(changeOf(before, row)).where('id', '=', id).execute();
      const after = (await this.#read(tx, id)) ?? notCreated();
      await this.#log(tx, actor, { action, id, before, after });
      // Gateways then drop the keys that they have cached.
      await incrementCounter(tx, 'keys');
      return after;
    });
  }

  async #read(db: Kysely<GatewayDatabase>, id: string): Promise<GatewayKey | undefined> {
    const [row] = await this.#joined(db).where('api_keys.id', '=', id).execute();
    return row && gatewayKey(row);
  }

  #joined(db: Kysely<GatewayDatabase> = this.#db) {
    return db
      .selectFrom('api_keys')
      .leftJoin('teams', 'teams.id', 'api_keys.team')
      .selectAll('api_keys')
      .select('teams.policy as team_policy');
  }

  async #log(
    tx: Transaction<GatewayDatabase>,
    actor: Actor,
    { action, id, before, after }: { action: string; id: string; before: GatewayKey | null; after: GatewayKey | null },
  ): Promise<void> {
    const facts = (key: GatewayKey | null) => key && loggedKey(key);
    await logAction(tx, { action, target: id, before: facts(before), after: facts(after) }, { actor, at: this.#now() });
  }
}

interface KeyPage {
  readonly limit: number;
  readonly before?: { readonly createdAtMs: number; readonly id: string } | undefined;
  readonly team?: string | undefined;
}

const notCreated = (): never => {
  throw new Error('a key that was written cannot be read');
};

function loggedKey({ label, tier, priority, access }: GatewayKey): object {
  return { label, tier, priority, team: access?.team ?? null, ...(access?.policy ?? NO_POLICY) };
}

/** JSON that this class and the table of teams have written. */
const policyIn = <P extends Policy>(text: string): P => JSON.parse(text) as P;

function gatewayKey(row: JoinedRow): GatewayKey {
  const key: StoredKey = storedKey(row);
  const access = accessOf(row);
  return { ...key, access, validUntil: access?.policy.expiresAt ?? null };
}

function accessOf({ id, policy, team = null, team_policy }: JoinedRow): Access | null {
  if (!policy && team === null) return null;
  const own = policy ? policyIn<KeyPolicy>(policy) : NO_POLICY;
  const limits = [
    { ...own, subject: id },
    ...(team !== null && team_policy !== null
      ? [{ ...policyIn<Policy>(team_policy), subject: teamSubject(team) }]
      : []),
  ];
  return { policy: own, team, limits };
}
