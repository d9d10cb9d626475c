// Answers that clients asked to store: encrypted parts, appended while the answer is generated. The gateway that generates one
// is that of its record in `begun_answers`; another one takes the answer over by replacing it there, and all later writes
// of the first one are refused.
import { integer, listed, type Plan, plan, rowsIn, writePipelined } from '@strata/db';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { jsonOfParts, MAX_STORED, MAX_STORED_SIZE, PART, type StoredPart } from './stored-writes.ts';

/** The gateway that generates an answer. */
export interface StoredOwner {
  readonly gateway: number;
  /** Undefined: it has ended. */
  readonly heartbeat: number | undefined;
}

export interface StoredState {
  readonly receiptId: string;
  /** Undefined: the answer is over, and its receipt stored. */
  readonly owner: StoredOwner | undefined;
  readonly parts: readonly StoredPart[];
}

/** The gateway of answers that were left: it never runs, and its records are settled as those of one that has ended. */
const LEFT = -2;
/** The settler of a gateway that has ended, and has only stored answers left. */
export const NO_SETTLER = -1;
/** Parts, and expired answers, per statement. */
const PAGE = 500;

/** Of a row of `begun_answers`. */
export const isStored = sql<boolean>`exists (select 1 from stored_answers where receipt_id = begun_answers.id)`;

export class StoredAnswerTable {
  /** The clock of the database: all of its gateways compare these times. */
  readonly now: () => Date;
  readonly #db: Kysely<GatewayDatabase>;
  readonly #append: Plan<{ readonly json: string; readonly gateway: number }, { readonly answer: string }>;

  constructor(db: Kysely<GatewayDatabase>, now: () => Date) {
    this.now = now;
    this.#db = db;
    this.#append = plan(({ json, gateway }) => ({
      compile: () =>
        sql<{ readonly answer: string }>`insert into stored_answer_parts (answer, number, body)
          select answer, number, body from ${rowsIn(db, json, PART)} as new
          where answer in (select stored_answers.id from stored_answers
            join begun_answers on begun_answers.id = receipt_id where gateway = ${gateway})
          on conflict (answer, number) do update set number = excluded.number returning answer`.compile(db),
    }));
  }

  /** The oldest answers of keys above the bounds, of those that are over. */
  async surplus(keys: readonly string[]): Promise<readonly string[]> {
    const { rows } = await sql<{ readonly id: string }>`select id from (
        select id, receipt_id, row_number() over newest as position, sum(size) over newest as total
        from stored_answers where key_id in ${listed(this.#db, keys)}
        window newest as (partition by key_id order by changed_at desc, id)) as counted
      where (position > ${integer(MAX_STORED)} or total > ${integer(MAX_STORED_SIZE)})
        and receipt_id not in (select id from begun_answers)`.execute(this.#db);
    return rows.map(({ id }) => id);
  }

  /**
   * Appends parts of answers that this gateway generates. Returns the ids of those that it does not generate. A part that is
   * there, as after a commit whose connection failed, stays as it is.
   */
  async append(parts: readonly StoredPart[], gateway: number): Promise<readonly string[]> {
    const [{ rows }] = await writePipelined(this.#db, [this.#append({ json: jsonOfParts(parts), gateway })]);
    const written = new Set(rows.map(({ answer }) => answer));
    return parts.flatMap(({ answer }) => (written.has(answer) ? [] : [answer]));
  }

  /** Keeps answers that are generated from expiring. Called every minute. */
  async touch(ids: readonly string[], now: Date): Promise<void> {
    await this.#db
      .updateTable('stored_answers')
      .set({ changed_at: now.getTime() })
      .where('id', 'in', listed(this.#db, ids))
      .execute();
  }

  /** An answer of this key with its parts from a number on; undefined if there is no such answer. */
  async read(
    id: string,
    keyId: string,
    { from, limit = Number.POSITIVE_INFINITY }: { readonly from: number; readonly limit?: number },
  ): Promise<StoredState | undefined> {
    const row = await this.#db
      .selectFrom('stored_answers')
      .leftJoin('begun_answers', 'begun_answers.id', 'receipt_id')
      .leftJoin('gateways', (join) =>
        join.onRef('gateways.id', '=', 'begun_answers.gateway').onRef('settler', '=', 'begun_answers.gateway'),
      )
      .where('stored_answers.id', '=', id)
      .where('stored_answers.key_id', '=', keyId)
      .select(['receipt_id', 'begun_answers.gateway', 'heartbeat'])
      .executeTakeFirst();
    if (!row) return undefined;
    // After the owner: an answer that is over has all of its parts.
    const parts: StoredPart[] = [];
    for (let next = from; parts.length < limit; next = (parts.at(-1)?.number ?? 0) + 1) {
      const page = await this.#db
        .selectFrom('stored_answer_parts')
        .where('answer', '=', id)
        .where('number', '>=', next)
        .orderBy('number')
        .limit(Math.min(PAGE, limit))
        .selectAll()
        .execute();
      parts.push(...page);
      if (page.length < PAGE) break;
    }
    const { gateway, heartbeat, receipt_id: receiptId } = row;
    return { receiptId, owner: gateway === null ? undefined : { gateway, heartbeat: heartbeat ?? undefined }, parts };
  }

  /** Makes `to`, which must be running, the gateway that generates an answer; false if it is not `from` any more. */
  async takeOver(receiptId: string, { from, to }: { readonly from: number; readonly to: number }): Promise<boolean> {
    const [taken] = await writePipelined(this.#db, [
      sql<{ readonly id: string }>`update begun_answers set gateway = ${integer(to)}
        where id = ${receiptId} and gateway = ${from} and exists (select 1 from gateways where id = ${to} and settler = ${to})
        returning id`.compile(this.#db),
    ]);
    return taken.rows.length === 1;
  }

  /**
   * Gives up an answer that `from` generates, so that the gateway where its client comes back takes it over. Without effect,
   * and false, if no other gateway runs.
   */
  async leave(receiptId: string, from: number): Promise<boolean> {
    const hasSibling = sql`exists (select 1 from gateways where id <> ${from} and settler = id)`;
    const [, left] = await writePipelined(this.#db, [
      sql`insert into gateways (id, settler, heartbeat, entered)
        select ${integer(LEFT)}, ${integer(NO_SETTLER)}, 0, coalesce((select max(seq) from answer_receipts), 0) where ${hasSibling}
        on conflict (id) do update set settler = excluded.settler`.compile(this.#db),
      sql<{ readonly id: string }>`update begun_answers set gateway = ${integer(LEFT)}
        where id = ${receiptId} and gateway = ${from} and ${hasSibling} returning id`.compile(this.#db),
    ]);
    return left.rows.length === 1;
  }

  async remove(id: string, keyId: string): Promise<void> {
    await this.#remove(sql`(select id from stored_answers where id = ${id} and key_id = ${keyId})`);
  }

  async removeAll(ids: readonly string[]): Promise<void> {
    for (let from = 0; from < ids.length; from += PAGE)
      await this.#remove(listed(this.#db, ids.slice(from, from + PAGE)));
  }

  /** Deletes answers without a change since then. One that did not end is settled with the records of its gateway. */
  async expire(before: Date): Promise<void> {
    await this.#remove(sql`(select id from stored_answers where changed_at < ${before.getTime()})`);
  }

  async #remove(ids: RawBuilder<unknown>): Promise<void> {
    await writePipelined(this.#db, [
      sql`delete from stored_answer_parts where answer in ${ids}`.compile(this.#db),
      sql`delete from stored_answers where id in ${ids}`.compile(this.#db),
    ]);
  }
}
