// Receipts: issues and verifies signed answers; the Merkle tree, tiles and signed notes of their ledger.

export {
  decodeBase32,
  decodeBase64,
  decodeBase64Url,
  decodeHex,
  encodeBase32,
  encodeBase64,
  encodeBase64Url,
  encodeHex,
} from './encoding/base-encoding.ts';
export { CanonicalFormError, canonicalize } from './encoding/jcs.ts';
export { AmbiguousJsonError, parseStrictJson } from './encoding/strict-json.ts';
export { isUlid, ulid } from './encoding/ulid.ts';
export {
  type AddCheckpointRequest,
  type CheckpointJudgement,
  formatAddCheckpoint,
  judgeCheckpoint,
  originOf,
  parseAddCheckpoint,
  type WitnessView,
} from './notes/add-checkpoint.ts';
export { type Checkpoint, checkpointOfNote, formatCheckpoint, parseCheckpoint } from './notes/checkpoint.ts';
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
} from './notes/cosignature.ts';
export { PUBLIC_KEY_BYTES, SIGNATURE_BYTES, type Signer, verifyEd25519 } from './notes/ed25519.ts';
export { type KeyKind, keyNoteHeader, keyNoteText, readKeyNote, vouchedKeys } from './notes/key-note.ts';
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
} from './notes/note.ts';
export { formatTlogProof, parseTlogProof, type TlogProof } from './notes/tlog-proof.ts';
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
} from './receipt/key-set.ts';
export {
  type LedgerEvidence,
  type LedgerReceipt,
  ledgerReceiptDocument,
  ledgerReceiptProof,
  readLedgerReceipt,
} from './receipt/ledger-receipt.ts';
export {
  bodySignedBytes,
  type DetachedContent,
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
} from './receipt/receipt.ts';
export { parseSalt, SALT_BYTES, saltedDigest } from './receipt/salted-digest.ts';
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
} from './tree/merkle.ts';
export {
  consistencyProof,
  foldHashes,
  type HashReader,
  inclusionProof,
  treeRoot,
} from './tree/proof.ts';
export {
  decodeEntries,
  encodeEntries,
  hashesAtLevel,
  MAX_ENTRY_BYTES,
  parseTilePath,
  TILE_HEIGHT,
  TILE_WIDTH,
  type TileAddress,
  tilePath,
  tilesOfTree,
  tileWidth,
} from './tree/tile.ts';
export { TileNodes, tileHashReader } from './tree/tile-nodes.ts';
export { type Consistency, checkConsistency, type FetchTile } from './verify/consistency.ts';
export {
  type CheckLedgerOptions,
  checkLedger,
  type LedgerConflict,
  type LedgerJudgement,
  type ShownLedger,
} from './verify/follow-ledger.ts';
export type { LedgerTrust } from './verify/ledger-trust.ts';
export { type RememberedLedger, readRemembered } from './verify/remembered-ledger.ts';
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
} from './verify/verify.ts';
