// The transparency log in a database, and the signing keys of a service.

export type { CheckpointCopy } from './files/checkpoint-file.ts';
export { lockLog } from './files/log-lock.ts';
export { KEYRINGS, type KeyringName } from './keys/keyrings.ts';
export {
  makeKeys,
  type PublicKeys,
  publicKeysFrom,
  readKeysFile,
  readPublicKeys,
  restoreKeys,
  signAsLedger,
  writeKeysFile,
} from './keys/keys-copy.ts';
export {
  publicKeyBytes,
  publishedLedgerKeys,
  publishedReceiptKeys,
} from './keys/ledger-keys.ts';
export { type RotatedLedger, rotateSigningKeys } from './keys/rotate-keys.ts';
export {
  type Keyring,
  KeyringError,
  type KeyringOptions,
  type KeyringSigner,
  openKeyring,
} from './keys/signing-keys.ts';
export {
  checkpointIn,
  createDirectoryLog,
  type DirectoryReader,
  isLedgerDirectory,
  ledgerIn,
  readDirectoryLog,
} from './ledger-directory.ts';
export type { AppendedLeaf, CheckpointSigner, Log, LogStats, PublishedCheckpoint } from './log.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export {
  CheckedLeaves,
  checkpointOf,
  decodeLeaves,
  encodeLeaves,
  type LeafBatches,
  type LogDigest,
  readCheckpoint,
  receiptIdsOf,
} from './publication/leaf-stream.ts';
export { type PublishedLog, type PublishOptions, publishLog } from './publication/publish-log.ts';
export { type CheckOptions, checkLog, type LogReport } from './rows/check-log.ts';
export { type CopiedLog, type CopyOptions, readLeaves } from './rows/copy-leaves.ts';
export type { DatabaseLog, OpenLogOptions } from './rows/database-log.ts';
export type { CheckpointKeys } from './rows/head.ts';
export { openLedgerFile, openLedgerTables } from './rows/ledger-databases.ts';
export {
  type GrowLedger,
  type KeyStorage,
  type LedgerDatabase,
  type LedgerGrowth,
  type LedgerHead,
  LedgerTable,
  type LedgerTables,
  ledgerTablesIn,
} from './rows/ledger-tables.ts';
export { checkPublished, openLog } from './rows/open-log.ts';
export {
  type FillLedgerOptions,
  fillLedger,
  type ImportLedgerOptions,
  importLedger,
  openSignedLedger,
  type SignedLedger,
  type SignedLedgerOptions,
} from './signed-ledger.ts';
export { Witness, type WitnessAnswer, type WitnessOptions } from './witness/witness.ts';
export type { WitnessFetch } from './witness/witness-client.ts';
export { type LogWitnesses, WitnessedLog } from './witness/witnessed-log.ts';
