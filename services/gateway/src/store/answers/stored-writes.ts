// What is written of stored answers together with the records of their beginnings and ends, in the same transaction.
import { type Plan, plan, rowsIn } from '@strata/db';
import { type CompiledQuery, type Kysely, sql } from 'kysely';
import type { GatewayDatabase } from '../tables.ts';
import { isOwner, type Owned } from './ownership.ts';

export interface NewStoredAnswer {
  readonly id: string;
  readonly receiptId: string;
  readonly keyId: string;
  /** Part 0. */
  readonly request: string;
  /** What of the answer is there already. */
  readonly first?: StoredPart | undefined;
  /** By the clock of the database. */
  readonly createdAt: Date;
}

export interface StoredPart {
  readonly answer: string;
  readonly number: number;
  readonly body: string;
}

/** The end of an answer: what of it is not stored yet, and its characters in all. */
export interface StoredEnd {
  readonly answer: string;
  readonly part: StoredPart | undefined;
  readonly size: number;
}

export interface StoredWrites {
  readonly added: readonly NewStoredAnswer[];
  readonly ended: readonly StoredEnd[];
}

const ANSWER = { id: 'text', receipt_id: 'text', key_id: 'text', changed_at: 'integer', size: 'integer' } as const;
const END = { id: 'text', size: 'integer' } as const;
export const PART = { answer: 'text', number: 'integer', body: 'text' } as const;

/** Answers of a key, and their characters; running ones, and those that have just ended, are kept in addition. */
export const MAX_STORED = 100;
export const MAX_STORED_SIZE = 64 * 1024 * 1024;
/** What each answer is counted as: only the size of a longer one, which is rare, is written at its end. */
const COUNTED_SIZE = Math.floor(MAX_STORED_SIZE / MAX_STORED);

/** Bodies are base64, and ids made here: PostgreSQL accepts all of it. */
export const jsonOfParts = (parts: readonly StoredPart[]): string =>
  JSON.stringify(parts.map(({ answer, number, body }) => [answer, number, body]));

type Batch = Owned & { readonly json: string };

export class StoredWriter {
  readonly #add: Plan<Batch, never>;
  readonly #append: Plan<Batch, never>;
  readonly #end: Plan<Batch, never>;

  constructor(db: Kysely<GatewayDatabase>) {
    this.#add = plan((batch) => ({
      compile: () =>
        sql<never>`insert into stored_answers (id, receipt_id, key_id, changed_at, size)
          select * from ${rowsIn(db, batch.json, ANSWER)} as new where ${isOwner(db, batch)}`.compile(db),
    }));
    this.#append = plan((batch) => ({
      compile: () =>
        sql<never>`insert into stored_answer_parts (answer, number, body)
          select * from ${rowsIn(db, batch.json, PART)} as new where ${isOwner(db, batch)}`.compile(db),
    }));
    this.#end = plan((batch) => ({
      compile: () =>
        sql<never>`update stored_answers set size = ended.size
          from ${rowsIn(db, batch.json, END)} as ended
          where stored_answers.id = ended.id and ${isOwner(db, batch)}`.compile(db),
    }));
  }

  /** Without effect unless the gateway owns all answers of the transaction. */
  queries({ added, ended }: StoredWrites, owned: Owned): CompiledQuery[] {
    const answers = added.map((each) => [
      ...[each.id, each.receiptId, each.keyId, each.createdAt.getTime(), Math.max(COUNTED_SIZE, each.request.length)],
    ]);
    const ends = ended.flatMap(({ answer, size }) => (size > COUNTED_SIZE ? [[answer, size]] : []));
    const parts = [
      ...added.map(({ id, request }) => ({ answer: id, number: 0, body: request })),
      ...[...added.map(({ first }) => first), ...ended.map(({ part }) => part)].filter((part) => part !== undefined),
    ];
    return [
      ...(added.length === 0 ? [] : [this.#add({ ...owned, json: JSON.stringify(answers) })]),
      ...(parts.length === 0 ? [] : [this.#append({ ...owned, json: jsonOfParts(parts) })]),
      ...(ends.length === 0 ? [] : [this.#end({ ...owned, json: JSON.stringify(ends) })]),
    ];
  }
}
