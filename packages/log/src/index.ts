// The transparency log, in a directory or a database, and the signing keys of a service.

export type { CheckpointCopy } from './files/checkpoint-file.ts';
export { makeDirectory, removeLeftOvers, replaceFile } from './files/durable-file.ts';
export { deniedText } from './files/permission.ts';
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
export type { KeyStorage } from './keys/published-keys.ts';
export { type RotatedLedger, rotateSigningKeys } from './keys/rotate-keys.ts';
export {
  type Keyring,
  KeyringError,
  type KeyringOptions,
  type KeyringSigner,
  openKeyring,
} from './keys/signing-keys.ts';
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
  readCheckpointFile,
  readLeaves,
  receiptIdsOf,
  writeLog,
} from './publication/log-copy.ts';
export { type PublishedLog, type PublishOptions, publishLog } from './publication/publish-log.ts';
export { type CheckOptions, checkSharedLog, type SharedLogReport } from './shared/check-shared-log.ts';
export type { ImportedLog } from './shared/import-log.ts';
export { openSharedLog } from './shared/open-shared-log.ts';
export { readSharedLeaves } from './shared/shared-copy.ts';
export type { CheckpointKeys } from './shared/shared-head.ts';
export type { SharedLog, SharedLogOptions } from './shared/shared-log.ts';
export type {
  Grow,
  Growth,
  SharedHead,
  SharedHeads,
  SharedRows,
  SharedStorage,
} from './shared/shared-storage.ts';
export {
  type FillLedgerOptions,
  fillLedger,
  type ImportLedgerOptions,
  importLedger,
  openSignedLedger,
  type SharedLedger,
  type SignedLedger,
  type SignedLedgerOptions,
} from './signed-ledger.ts';
export { checkLog, type LogReport } from './tile-log/check-log.ts';
export { lockLog } from './tile-log/recover.ts';
export { type LogOptions, openLog, type TileLog } from './tile-log/tile-log.ts';
export { Witness, type WitnessAnswer, type WitnessOptions } from './witness/witness.ts';
export type { WitnessFetch } from './witness/witness-client.ts';
export { type LogWitnesses, WitnessedLog } from './witness/witnessed-log.ts';
