// Receipts: issues and verifies signed answers; the Merkle tree, tiles and signed notes of their ledger.

export * from './encoding/base-encoding.ts';
export { canonicalize } from './encoding/jcs.ts';
export { AmbiguousJsonError, parseStrictJson } from './encoding/strict-json.ts';
export * from './notes/add-checkpoint.ts';
export { type Checkpoint, checkpointOfNote, formatCheckpoint, parseCheckpoint } from './notes/checkpoint.ts';
export * from './notes/cosignature.ts';
export { PUBLIC_KEY_BYTES, type Signer } from './notes/ed25519.ts';
export { type KeyKind, keyNoteHeader, keyNoteText, readKeyNote, vouchedKeys } from './notes/key-note.ts';
export {
  formatVerifierKey,
  isKeyName,
  joinNote,
  type NoteSigner,
  type NoteVerifier,
  noteText,
  noteVerifier,
  openNote,
  parseVerifierKey,
  refusedKey,
  SIGNATURE_TYPES,
  signNote,
} from './notes/note.ts';
export { parseTlogProof } from './notes/tlog-proof.ts';
export {
  jwkThumbprint,
  type KeySet,
  keySetDocument,
  ledgerEntry,
  ledgerPathOf,
  type PublicKeyEntry,
  publicKeyEntry,
  publishedLedger,
} from './receipt/key-set.ts';
export * from './receipt/ledger-receipt.ts';
export {
  bodySignedBytes,
  type DetachedContent,
  type IssueOptions,
  issueDetachedReceipt,
  issueReceipt,
  LEDGER_ID_BYTES,
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
  EMPTY_ROOT,
  equalBytes,
  HASH_BYTES,
  leafHash,
  nodeHash,
  sha256,
  verifyConsistency,
  verifyInclusion,
} from './tree/merkle.ts';
export * from './tree/proof.ts';
export * from './tree/tile.ts';
export { TileNodes, tileHashReader } from './tree/tile-nodes.ts';
export * from './verify/follow-ledger.ts';
export type { LedgerTrust } from './verify/ledger-trust.ts';
export type { RememberedLedger } from './verify/remembered-ledger.ts';
export * from './verify/verify.ts';
