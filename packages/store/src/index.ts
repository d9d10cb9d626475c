// What @strata/store offers.
export type { AddedDomains, StoredChange, StoredProfile, StoredService } from './domains.ts';
export type { StoredEvent } from './events.ts';
export { isTier, type KeyTable, type StoredKey, TIERS, type Tier } from './keys.ts';
export type { QuotaTable } from './quota.ts';
export type { RecordedScan, RecordOptions, ScanRecord } from './record-scan.ts';
export type { EventKind } from './schema.ts';
export { openStore, type Store, type StoreCounts, type StoreOptions } from './store.ts';
export { StoreError, type StoreErrorCode } from './store-error.ts';
