// What the exporter reads: the store, as this package needs it.
import type {
  CountedScans,
  DayOfChanges,
  IndexedChange,
  IndexedDomain,
  IndexedMigration,
  IndexPosition,
} from '@strata/analytics';
import type { DomainState } from '@strata/detect';

/** An event of the store's log; `none`: one that no question is about. */
export type ExportEvent = { readonly seq: number } & (
  | { readonly kind: 'put'; readonly domain: IndexedDomain }
  | { readonly kind: 'remove'; readonly domainId: number }
  | { readonly kind: 'change'; readonly change: IndexedChange }
  | { readonly kind: 'none' }
);

export interface ExportScan {
  readonly id: number;
  readonly domainId: number;
  readonly at: number;
  readonly state: DomainState;
  readonly rulebook: string;
}

/** History as counts by day, and the migrations of the last weeks; batches are awaited. */
export interface HistoryReader {
  changeDays(batch: readonly DayOfChanges[]): Promise<void>;
  migrations(batch: readonly IndexedMigration[]): Promise<void>;
  scanDays(days: readonly (CountedScans & { readonly day: number })[]): Promise<void>;
}

/** Methods reject when the store fails, and may be called again. Each method reads one consistent state. */
export interface ExportSource {
  storeId(): Promise<string>;
  /** Whether everything after a position is still in the logs. */
  reaches(position: IndexPosition): Promise<boolean>;
  /** Reads the history; the position of the logs at which it was read. */
  readHistory(reader: HistoryReader): Promise<IndexPosition>;
  /** Scanned domains after an id, in order, with the last id that was read (undefined at the end) and the event of their state. */
  domainsAfter(
    id: number,
    limit: number,
  ): Promise<{ readonly domains: readonly IndexedDomain[]; readonly last: number | undefined; readonly seq: number }>;
  eventsSince(seq: number, limit: number): Promise<readonly ExportEvent[]>;
  scansSince(id: number, limit: number): Promise<readonly ExportScan[]>;
}
