// The tile log on disk and the signing keys beside it: what must survive a crash.
export { checkLog, type LogReport } from './check-log.ts';
export {
  KEYRINGS,
  type KeyringName,
  type PublicKeys,
  publicKeysFrom,
  readKeysFile,
  readPublicKeys,
  restoreKeys,
  writeKeysFile,
} from './keys-copy.ts';
export {
  CheckedLeaves,
  checkpointOf,
  decodeLeaves,
  encodeLeaves,
  type LeafBatches,
  type LogDigest,
  lockLog,
  readCheckpoint,
  readCheckpointFile,
  readLeaves,
  receiptIdsOf,
  writeLog,
} from './log-copy.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export { openSignedLedger, rotateSigningKeys, type SignedLedger, type SignedLedgerOptions } from './signed-ledger.ts';
export { type Keyring, KeyringError, type KeyringOptions, type KeyringSigner, openKeyring } from './signing-keys.ts';
export { type CheckpointSigner, type LogOptions, type LogStats, openLog, type TileLog } from './tile-log.ts';
