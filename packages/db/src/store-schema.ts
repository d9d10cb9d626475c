// What distinguishes the store of one service from another's, for its copies and checks.
import type { Migrations } from './migrations/migrator.ts';

export interface StoreSchema {
  readonly migrations: Migrations;
  /** Every table that a copy carries, with its key columns; a table follows the tables that it references. */
  readonly keys: Readonly<Record<string, readonly string[]>>;
  /** Tables whose numbers clients and processes keep, in published ids and as cursors: a restored store skips numbers. */
  readonly numbered: readonly string[];
  readonly sized: SizedTables;
  /** The main table, whose rows are reported. */
  readonly counted: string;
  readonly invariants: readonly Invariant[];
}

/**
 * Tables whose size is recorded and reported, because they grow. With SQL of the first number that counts, for SQLite; null: the
 * smallest; false: not on SQLite, because the rows have no numbers.
 */
export type SizedTables = Readonly<Record<string, string | null | false>>;

export interface StoreFinding {
  /** A sentence, with a few examples. */
  readonly what: string;
  /** What to do about it. */
  readonly advice: string;
}

export interface Invariant extends StoreFinding {
  readonly name: string;
  /** Finds rows that violate it; `id` identifies a row. */
  readonly sql: string;
}

/** What to do about damage, and about a violation that only a bug explains. */
export const RESTORE = 'Stop the service and restore a backup (`strata stack restore`).';
export const REPORT =
  'No data is lost if you continue, but this is a bug: please report it with the output of this command.';
