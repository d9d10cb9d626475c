// The manifest of a copied store, the same for both databases.

export interface CopiedPart {
  readonly table: string;
  readonly rows: number;
  /** PostgreSQL only: the columns in value order, the SHA-256 (hex) of the COPY text, and the last number assigned. */
  readonly columns?: readonly string[];
  readonly sha256?: string;
  readonly last?: number;
}

export interface StoreCopy {
  readonly kind: 'sqlite' | 'postgres';
  /** The name of the last applied migration. */
  readonly schema: string;
  readonly tables: readonly CopiedPart[];
}

/** More numbers than a store assigns between two backups; a restored store skips them. */
export const SKIPPED_NUMBERS = 1_000_000;
