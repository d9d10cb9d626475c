// The tile log on disk and the signing keys beside it: what must survive a crash.
export { checkLog, type LogReport } from './check-log.ts';
export type { CheckpointSigner, Log, Placed } from './log.ts';
export { LogError, type LogErrorCode } from './log-error.ts';
export type { CheckpointKeys } from './shared-head.ts';
export { openSharedLog, type SharedLog, type SharedLogOptions, type SharedLogStats } from './shared-log.ts';
export type { Grow, Growth, SharedHead, SharedPlace, SharedRows, SharedTurns } from './shared-place.ts';
export { openSignedLedger, rotateSigningKeys, type SignedLedger, type SignedLedgerOptions } from './signed-ledger.ts';
export { type Keyring, KeyringError, type KeyringOptions, type KeyringSigner, openKeyring } from './signing-keys.ts';
export { type LogOptions, type LogStats, openLog, type TileLog } from './tile-log.ts';
