// The log of administration: who has changed what and when. Each entry is written in the transaction of its change.
import { toJson, writeTransaction } from '@strata/db';
import type { Kysely, Transaction } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { type Account, accountOf, dateOfEnd } from './policy.ts';

/** The id of an admin key; or `local`: a process with the database, such as the CLI; or `gateway`. */
export type Actor = string;
export const LOCAL: Actor = 'local';
const GATEWAY: Actor = 'gateway';

export interface AdminAction {
  /** `key.create`, `team.set` … */
  readonly action: string;
  /** The key, team or model. */
  readonly target: string;
  /** Without secrets; null: it did not exist. */
  readonly before: object | null;
  readonly after: object | null;
}

export interface LoggedAction extends AdminAction {
  readonly seq: number;
  readonly at: Date;
  readonly actor: Actor;
}

export async function logAction(
  tx: Transaction<GatewayDatabase>,
  { action, target, before, after }: AdminAction,
  { actor, at }: { readonly actor: Actor; readonly at: Date },
): Promise<void> {
  const text = (value: object | null) => (value === null ? null : toJson(value));
  await tx
    .insertInto('admin_actions')
    .values({ at: at.getTime(), actor, action, target, before: text(before), after: text(after) })
    .execute();
}

export class AuditTable {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #now: () => Date;

  constructor(db: Kysely<GatewayDatabase>, { now }: { readonly now: () => Date }) {
    this.#db = db;
    this.#now = now;
  }

  /** Logs that an account has reached its warning in the period that ends on this day. False: that was logged before. */
  async warn({ name, period, limit, warning }: Account, day: string): Promise<boolean> {
    const { keyId, team } = accountOf(name);
    const after = { spend: { micros: limit, period, warning }, until: dateOfEnd(day, period) };
    const action = { action: 'budget.warning', target: team ?? keyId, before: null, after };
    return writeTransaction(this.#db, async (tx) => {
      const logged = tx.selectFrom('admin_actions').where('action', '=', action.action);
      const ofThis = logged.where('target', '=', action.target).where('after', '=', toJson(after));
      if (await ofThis.select('seq').executeTakeFirst()) return false;
      await logAction(tx, action, { actor: GATEWAY, at: this.#now() });
      return true;
    });
  }

  /** Newest first; `before`: only entries with smaller numbers. */
  async list({ limit, before }: { readonly limit: number; readonly before?: number | undefined }) {
    const rows = await this.#db
      .selectFrom('admin_actions')
      .where('seq', '<', before ?? Number.MAX_SAFE_INTEGER)
      .orderBy('seq', 'desc')
      .limit(limit)
      .selectAll()
      .execute();
    const value = (text: string | null) => (text === null ? null : (JSON.parse(text) as object));
    return rows.map(
      (row): LoggedAction => ({
        ...{ seq: row.seq, at: new Date(row.at), actor: row.actor, action: row.action, target: row.target },
        ...{ before: value(row.before), after: value(row.after) },
      }),
    );
  }

  /** Deletes entries from before that time. */
  async forget(before: Date): Promise<void> {
    await this.#db.deleteFrom('admin_actions').where('at', '<', before.getTime()).execute();
  }
}
