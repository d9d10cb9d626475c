// The ledger's receipt of a leaf, as served at `/ledger/receipts/{cr_id}`, and as a C2SP proof.
import { decodeBase64, encodeBase64 } from '../encoding/base-encoding.ts';
import { formatTlogProof } from '../notes/tlog-proof.ts';
import { HASH_BYTES, MAX_PROOF_HASHES } from '../tree/merkle.ts';
import { MAX_ENTRY_BYTES } from '../tree/tile.ts';

/** The served document. */
export interface LedgerReceipt {
  readonly ledger_receipt_id: string;
  readonly receipt_id: string;
  /** The leaf's bytes in base64. */
  readonly leaf: string;
  readonly index: number;
  readonly tree_size: number;
  /** Base64, from the leaf's sibling to the root's child. */
  readonly proof: readonly string[];
  /** Signed note over a tree of `tree_size` leaves. */
  readonly checkpoint: string;
}

/** A ledger receipt with its bytes decoded. */
export interface LedgerEvidence {
  readonly ledgerReceiptId: string;
  readonly receiptId: string;
  readonly leaf: Uint8Array;
  readonly index: number;
  readonly treeSize: number;
  readonly proof: readonly Uint8Array[];
  readonly checkpoint: string;
}

/** The served document of a leaf and its proof. */
export function ledgerReceiptDocument(evidence: LedgerEvidence): LedgerReceipt {
  return {
    ledger_receipt_id: evidence.ledgerReceiptId,
    receipt_id: evidence.receiptId,
    leaf: encodeBase64(evidence.leaf),
    index: evidence.index,
    tree_size: evidence.treeSize,
    proof: evidence.proof.map(encodeBase64),
    checkpoint: evidence.checkpoint,
  };
}

/** The receipt in the C2SP tlog-proof format, with the leaf as extra data. */
export function ledgerReceiptProof(receipt: LedgerReceipt): string {
  const evidence = readLedgerReceipt(receipt);
  if ('problem' in evidence) throw new TypeError(evidence.problem);
  const { index, proof, checkpoint, leaf } = evidence;
  return formatTlogProof({ index, proof, checkpoint, extra: leaf });
}

/** Base64 of the largest leaf. */
const MAX_LEAF_CHARACTERS = Math.ceil(MAX_ENTRY_BYTES / 3) * 4;

/** Decodes an untrusted document, or returns what is wrong with it. Bounded work; never throws. */
export function readLedgerReceipt(document: unknown): LedgerEvidence | { problem: string } {
  if (typeof document !== 'object' || document === null) return { problem: 'the ledger receipt is not an object' };
  const fields = document as Partial<Record<keyof LedgerReceipt, unknown>>;
  const { ledger_receipt_id: ledgerReceiptId, receipt_id: receiptId, index, tree_size: treeSize, checkpoint } = fields;
  if (typeof ledgerReceiptId !== 'string' || typeof receiptId !== 'string' || typeof checkpoint !== 'string') {
    return { problem: 'the ledger receipt lacks ledger_receipt_id, receipt_id or checkpoint' };
  }
  if (!isCount(index) || !isCount(treeSize)) return { problem: 'index and tree_size are not non-negative integers' };
  const leaf = decodeText(fields.leaf, MAX_LEAF_CHARACTERS);
  if (!leaf) return { problem: 'the leaf is not base64' };
  if (!Array.isArray(fields.proof) || fields.proof.length > MAX_PROOF_HASHES) {
    return { problem: `the proof is not a list of at most ${MAX_PROOF_HASHES} hashes` };
  }
  const proof: Uint8Array[] = [];
  for (const text of fields.proof as unknown[]) {
    const hash = decodeText(text, 2 * HASH_BYTES);
    if (hash?.length !== HASH_BYTES) return { problem: 'the proof contains something other than hashes in base64' };
    proof.push(hash);
  }
  return { ledgerReceiptId, receiptId, leaf, index, treeSize, proof, checkpoint };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function decodeText(value: unknown, maxCharacters: number): Uint8Array | undefined {
  return typeof value === 'string' && value.length <= maxCharacters ? decodeBase64(value) : undefined;
}
