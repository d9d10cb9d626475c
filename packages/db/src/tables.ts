// The tables that the stores of several services have, for Kysely. Times are milliseconds since the epoch, which compare and
// index alike in both databases; JSON is text that only this code reads.
import type { Kysely, Transaction } from 'kysely';

export interface KeyTables {
  api_keys: {
    id: string;
    /** Hex SHA-256 of the key, which is not stored. */
    hash: string;
    tier: string;
    priority: string;
    label: string | null;
    created_at: number;
    revoked_at: number | null;
    /** The UTC day, and salted hashes of the networks and the address of the request; null for keys of an operator. */
    origin: string | null;
    /** Only in the gateway's database: the team of the key, its policy as JSON, and the hash of its secret before a rotation. */
    team?: string | null | undefined;
    policy?: string | null | undefined;
    previous_hash?: string | null | undefined;
    previous_until?: number | null | undefined;
  };
  quota_usage: {
    key_id: string;
    day: string;
    used: number;
  };
}

export interface CommonTables extends KeyTables {
  settings: {
    name: string;
    value: string;
  };
  counters: {
    /** `keys`: keys revoked. The schema of a service names further counters. */
    name: string;
    value: number;
  };
}

/** A database or a transaction; spelled out, so that it is assignable from one with more tables. */
export type Connection<Tables> = Kysely<Tables> | Transaction<Tables>;

export interface SizeTables {
  /** Estimated rows of a table on a UTC day (days since the epoch). */
  table_sizes: {
    day: number;
    table_name: string;
    table_rows: number;
  };
}
