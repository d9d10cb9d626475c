// Receipts: issue and verify signed answers, and the tree, tiles and notes of the ledger that keeps them.
export {
  type AddCheckpointRequest,
  type CheckpointJudgement,
  formatAddCheckpoint,
  judgeCheckpoint,
  originOf,
  parseAddCheckpoint,
  type WitnessView,
} from './add-checkpoint.ts';
export {
  decodeBase32,
  decodeBase64,
  decodeBase64Url,
  decodeHex,
  encodeBase32,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
} from './base-encoding.ts';
export { type Checkpoint, checkpointOfNote, formatCheckpoint, parseCheckpoint } from './checkpoint.ts';
export { type Consistency, checkConsistency, type FetchTile } from './consistency.ts';
export {
  type Cosignature,
  checkWitnesses,
  cosign,
  readCosignatures,
  readWitnessPolicy,
  type WitnessAddress,
  type WitnessPolicy,
  type WitnessPolicyText,
  type WitnessReport,
} from './cosignature.ts';
export { PUBLIC_KEY_BYTES, SIGNATURE_BYTES, type Signer, verifyEd25519 } from './ed25519.ts';
export {
  type FollowOptions,
  followLedger,
  type LedgerConflict,
  type LedgerJudgement,
  type ShownLedger,
} from './follow-ledger.ts';
export { CanonicalFormError, canonicalize } from './jcs.ts';
export { type KeyKind, keyNoteHeader, keyNoteText, readKeyNote, vouchedKeys } from './key-note.ts';
export {
  jwkThumbprint,
  type KeySet,
  keyIdOf,
  keySetDocument,
  type LedgerEntry,
  ledgerEntry,
  ledgerPathOf,
  type PublicKeyEntry,
  type PublishedLedger,
  publicKeyEntry,
  publishedLedger,
} from './key-set.ts';
export {
  type LedgerEvidence,
  type LedgerReceipt,
  ledgerReceiptDocument,
  ledgerReceiptProof,
  readLedgerReceipt,
} from './ledger-receipt.ts';
export type { LedgerTrust } from './ledger-trust.ts';
export {
  type ConsistencyClaim,
  EMPTY_ROOT,
  equalBytes,
  HASH_BYTES,
  type InclusionClaim,
  leafHash,
  nodeHash,
  sha256,
  verifyConsistency,
  verifyInclusion,
} from './merkle.ts';
export {
  formatVerifierKey,
  joinNote,
  type NoteSigner,
  type NoteVerifier,
  noteText,
  noteVerifier,
  type OpenedNote,
  openNote,
  parseVerifierKey,
  SIGNATURE_TYPES,
  type SignatureType,
  signNote,
} from './note.ts';
export { consistencyProof, foldHashes, type HashReader, inclusionProof, perfectSubtrees, treeRoot } from './proof.ts';
export {
  bodySignedBytes,
  type IssuedReceipt,
  type IssueOptions,
  issueDetachedReceipt,
  issueReceipt,
  LEDGER_ID_BYTES,
  type LeafFields,
  leafOf,
  ledgerReceiptIdOf,
  newReceiptId,
  type PreparedReceipt,
  type Provenance,
  prepareReceipt,
  type SignedBody,
} from './receipt.ts';
export { type RememberedLedger, readRemembered } from './remembered-ledger.ts';
export { parseSalt, SALT_BYTES, saltedDigest } from './salted-digest.ts';
export { AmbiguousJsonError, parseStrictJson } from './strict-json.ts';
export {
  decodeEntries,
  encodeEntries,
  FULL_TILE_BYTES,
  hashesAtLevel,
  MAX_ENTRY_BYTES,
  parseTilePath,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileAddress,
  tilePath,
  tilesOfTree,
  tileWidth,
} from './tile.ts';
export { TileNodes, tileHashReader } from './tile-nodes.ts';
export { formatTlogProof, parseTlogProof, type TlogProof } from './tlog-proof.ts';
export { isUlid, ulid } from './ulid.ts';
export {
  type DetachedAnswer,
  failed,
  KEY_OVERLAP_MS,
  readProvenance,
  type StepResult,
  VERIFY_STEPS,
  type Verification,
  type VerifyOptions,
  type VerifyStep,
  verifyAnswer,
  verifyDetachedAnswer,
} from './verify.ts';
