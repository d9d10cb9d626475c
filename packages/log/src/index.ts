// The transparency log in a database, and the signing keys of a service.

export type { CheckpointCopy } from './files/checkpoint-file.ts';
export { lockLog } from './files/log-lock.ts';
export { KEYRINGS, type KeyringName } from './keys/keyrings.ts';
export * from './keys/keys-copy.ts';
export { publicKeyBytes, publishedLedgerKeys, publishedReceiptKeys } from './keys/ledger-keys.ts';
export { rotateSigningKeys } from './keys/rotate-keys.ts';
export { KeyringError, openKeyring } from './keys/signing-keys.ts';
export { checkpointIn, createDirectoryLog, isLedgerDirectory, ledgerIn, readDirectoryLog } from './ledger-directory.ts';
export type { Log } from './log.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export * from './publication/leaf-stream.ts';
export { publishLog } from './publication/publish-log.ts';
export { type ReturnOptions, returnLedger } from './return-ledger.ts';
export { checkLog } from './rows/check-log.ts';
export { type CopiedLog, type CopyProgress, readLeaves } from './rows/copy-leaves.ts';
export { createLedgerTables } from './rows/create-ledger-tables.ts';
export type { DatabaseLog } from './rows/database-log.ts';
export { openLedgerFile, openLedgerTables } from './rows/ledger-databases.ts';
export { type LedgerDatabase, LedgerTable, type LedgerTables, ledgerTablesIn } from './rows/ledger-tables.ts';
export { checkPublished, openLog } from './rows/open-log.ts';
export * from './signed-ledger.ts';
export { Witness } from './witness/witness.ts';
export type { LogWitnesses } from './witness/witnessed-log.ts';
