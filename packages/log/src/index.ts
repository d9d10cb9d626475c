// The transparency log, on disk or in a database, and the signing keys beside it: what must survive a crash.
export { checkLog, type LogReport } from './check-log.ts';
export { type CheckOptions, checkSharedLog, type SharedLogReport } from './check-shared-log.ts';
export type { CheckpointCopy } from './checkpoint-file.ts';
export { makeDirectory, removeLeftOvers, replaceFile } from './durable-file.ts';
export type { ImportedLog } from './import-log.ts';
export { KEYRINGS, type KeyringName } from './keyrings.ts';
export {
  makeKeys,
  type PublicKeys,
  publicKeysFrom,
  readKeysFile,
  readPublicKeys,
  restoreKeys,
  signAsLedger,
  writeKeysFile,
} from './keys-copy.ts';
export { ledgerKeysTold, publicKeyBytes, receiptKeysTold } from './ledger-keys.ts';
export type { CheckpointSigner, Log, LogStats, Placed, PublishedCheckpoint } from './log.ts';
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
} from './log-copy.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export { openSharedLog } from './open-shared-log.ts';
export { deniedText } from './permission.ts';
export { type PublishedLog, type PublishOptions, publishLog } from './publish-log.ts';
export type { KeyPlace } from './published-keys.ts';
export { lockLog } from './recover.ts';
export { type RotatedLedger, rotateSigningKeys } from './rotate-keys.ts';
export { readSharedLeaves } from './shared-copy.ts';
export type { CheckpointKeys } from './shared-head.ts';
export type { SharedLog, SharedLogOptions } from './shared-log.ts';
export type { Grow, Growth, SharedHead, SharedPlace, SharedRows, SharedTurns } from './shared-place.ts';
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
export { type Keyring, KeyringError, type KeyringOptions, type KeyringSigner, openKeyring } from './signing-keys.ts';
export { type LogOptions, openLog, type TileLog } from './tile-log.ts';
export { Witness, type WitnessAnswer, type WitnessOptions } from './witness/witness.ts';
export type { WitnessFetch } from './witness/witness-client.ts';
export { type LogWitnesses, WitnessedLog } from './witness/witnessed-log.ts';
