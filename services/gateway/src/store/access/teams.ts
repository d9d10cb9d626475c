// Teams, which limit all of their keys together, and the prices of models.
import { incrementCounter, toJson, writeTransaction } from '@strata/db';
import type { Kysely, Transaction } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { type Actor, LOCAL, logAction } from './audit.ts';
import type { Policy, Price } from './policy.ts';

export interface Team extends Policy {
  readonly id: string;
  readonly createdAt: Date;
}

export class TeamTable {
  readonly #db: Kysely<GatewayDatabase>;
  readonly #now: () => Date;

  constructor(db: Kysely<GatewayDatabase>, { now }: { readonly now: () => Date }) {
    this.#db = db;
    this.#now = now;
  }

  /** By name. */
  async list(): Promise<readonly Team[]> {
    const rows = await this.#db.selectFrom('teams').orderBy('id').selectAll().execute();
    return rows.map(teamOf);
  }

  async has(id: string): Promise<boolean> {
    return (await this.#db.selectFrom('teams').where('id', '=', id).select('id').executeTakeFirst()) !== undefined;
  }

  /** Creates a team, or replaces the policy of one. Its keys follow within a second. */
  async set(id: string, { models, tokensPerDay, spend }: Policy, actor: Actor = LOCAL): Promise<Team> {
    const policy: Policy = { models, tokensPerDay, spend };
    return this.#write(async (tx) => {
      const before = await tx.selectFrom('teams').where('id', '=', id).selectAll().executeTakeFirst();
      const row = { id, policy: toJson(policy), created_at: before?.created_at ?? this.#now().getTime() };
      await tx
        .insertInto('teams')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ policy: row.policy }))
        .execute();
      await logAction(
        tx,
        { action: 'team.set', target: id, before: before ? JSON.parse(before.policy) : null, after: policy },
        { actor, at: this.#now() },
      );
      return teamOf(row);
    });
  }

  /**
   * Removes a team whose keys are all revoked, or revokes them too. Usage and receipts stay, also for a later team of that name.
   * Undefined if there is no such team.
   */
  async remove(
    id: string,
    { revokesKeys }: { readonly revokesKeys: boolean },
    actor: Actor = LOCAL,
  ): Promise<{ readonly isRemoved: boolean; readonly activeKeys: number } | undefined> {
    return this.#write(async (tx) => {
      const team = await tx.selectFrom('teams').where('id', '=', id).selectAll().executeTakeFirst();
      if (!team) return undefined;
      const ofTeam = tx.selectFrom('api_keys').where('team', '=', id).where('revoked_at', 'is', null);
      const keys = await ofTeam.select(['id', 'label']).execute();
      if (keys.length > 0 && !revokesKeys) return { isRemoved: false, activeKeys: keys.length };
      const at = this.#now();
      await tx
        .updateTable('api_keys')
        .set({ revoked_at: at.getTime() })
        .where('team', '=', id)
        .where('revoked_at', 'is', null)
        .execute();
      for (const { id: target, label } of keys)
        await logAction(tx, { action: 'key.revoke', target, before: { label, team: id }, after: null }, { actor, at });
      await tx.deleteFrom('teams').where('id', '=', id).execute();
      const before = JSON.parse(team.policy) as Policy;
      await logAction(tx, { action: 'team.remove', target: id, before, after: null }, { actor, at });
      return { isRemoved: true, activeKeys: keys.length };
    });
  }

  /** By the name of the model. */
  async prices(): Promise<ReadonlyMap<string, Price>> {
    const rows = await this.#db.selectFrom('model_prices').orderBy('model').selectAll().execute();
    return new Map(rows.map(({ model, price }) => [model, JSON.parse(price) as Price]));
  }

  /** Sets the price of a model, or removes it. Returns whether there is, or was, one. */
  async setPrice(model: string, price: Price | null, actor: Actor = LOCAL): Promise<boolean> {
    return this.#write(async (tx) => {
      const row = await tx.selectFrom('model_prices').where('model', '=', model).selectAll().executeTakeFirst();
      if (!row && price === null) return false;
      await tx.deleteFrom('model_prices').where('model', '=', model).execute();
      if (price)
        await tx
          .insertInto('model_prices')
          .values({ model, price: toJson(price) })
          .execute();
      const before = row ? (JSON.parse(row.price) as Price) : null;
      await logAction(tx, { action: 'price.set', target: model, before, after: price }, { actor, at: this.#now() });
      return true;
    });
  }

  /** Gateways read keys and prices again after each change. */
  #write<T>(work: (tx: Transaction<GatewayDatabase>) => Promise<T>): Promise<T> {
    return writeTransaction(this.#db, async (tx) => {
      const result = await work(tx);
      await incrementCounter(tx as unknown as Parameters<typeof incrementCounter>[0], 'keys');
      return result;
    });
  }
}

const teamOf = ({ id, policy, created_at }: GatewayDatabase['teams']): Team => ({
  ...(JSON.parse(policy) as Policy),
  ...{ id, createdAt: new Date(created_at) },
});
