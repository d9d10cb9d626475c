// What a copied store says of itself, whatever database it is from.

export interface CopiedPart {
  readonly table: string;
  readonly rows: number;
  /** Of PostgreSQL: the columns in the order of their values, the SHA-256 (hex) of the rows as COPY writes them, and the last number given. */
  readonly columns?: readonly string[];
  readonly sha256?: string;
  readonly last?: number;
}

export interface StoreCopy {
  readonly kind: 'sqlite' | 'postgres';
  /** The last migration that it had. */
  readonly schema: string;
  readonly tables: readonly CopiedPart[];
}

/** Tables whose numbers others hold: in ids that were given out, and as places to come back to. */
export const NUMBERED = ['events', 'changes', 'stream_events'] as const;
/** More than a store gives out between two backups; a restored one goes on after them. */
export const NUMBERS_LEFT_OUT = 1_000_000;
/** So many of the newest receipts that a store tells of are looked for in the ledger. */
export const RECEIPTS_TOLD = 10_000;
