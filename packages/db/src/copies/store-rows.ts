// What a copy needs of a store, the same for both databases.

export type Row = Readonly<Record<string, unknown>>;

export const PAGE_ROWS = 2_000;

export interface KeyedTable {
  readonly table: string;
  readonly key: readonly string[];
}

export interface TableColumns extends KeyedTable {
  /** In the order of their names. */
  readonly columns: readonly string[];
}

/** A store within a transaction. */
export interface StoreRows {
  /** Runs a statement that both databases know. */
  run(text: string): Promise<readonly Row[]>;
  /** At the end: rejects with StoreError `in-use` if other processes are connected to the database. The transaction has no snapshot after it. */
  refuseInUse(): Promise<void>;
  columns(table: string): Promise<readonly string[]>;
  /** All rows in key order. */
  pages(table: KeyedTable): AsyncIterable<readonly Row[]>;
  insert(table: TableColumns, pages: AsyncIterable<readonly Row[]>): Promise<void>;
  /** The last number that a table assigned, also to a deleted row; 0 if it assigned none or assigns none. */
  lastNumber(table: KeyedTable): Promise<number>;
  /** The next number is the one after `last`, which is not 0. */
  setLastNumber(table: KeyedTable, last: number): Promise<void>;
}

/** One end of a copy: an open store with the current schema. */
export interface CopyEnd extends AsyncDisposable {
  /** Reads one snapshot, and excludes writers until its end. */
  reading<T>(work: (rows: StoreRows) => Promise<T>): Promise<T>;
  /** Excludes other writers, and is rolled back if `work` rejects. */
  writing<T>(work: (rows: StoreRows) => Promise<T>): Promise<T>;
}
