// Verifies an answer against a key set and a ledger receipt in steps, and reports the step that fails.
import { decodeBase64, encodeHex } from '../encoding/base-encoding.ts';
import { CanonicalFormError } from '../encoding/jcs.ts';
import { checkpointOfNote, parseCheckpoint } from '../notes/checkpoint.ts';
import { checkWitnesses, readWitnessPolicy } from '../notes/cosignature.ts';
import { SIGNATURE_BYTES, verifyEd25519 } from '../notes/ed25519.ts';
import { vouchedKeys } from '../notes/key-note.ts';
import { openNote, parseVerifierKey } from '../notes/note.ts';
import { findReceiptKey, publishedLedger, type ReceiptKey } from '../receipt/key-set.ts';
import { type LedgerEvidence, readLedgerReceipt } from '../receipt/ledger-receipt.ts';
import {
  bodySignedBytes,
  type DetachedContent,
  detachedSignedBytes,
  leafOf,
  ledgerReceiptIdOf,
  type Provenance,
  SIGNATURE_PREFIX,
} from '../receipt/receipt.ts';
import { equalBytes, leafHash, sha256, verifyInclusion } from '../tree/merkle.ts';
import type { LedgerTrust } from './ledger-trust.ts';

/** The steps in order. The last is `checkLedger`, for a verifier with remembered state. */
export const VERIFY_STEPS = ['content', 'key', 'signature', 'leaf', 'inclusion', 'checkpoint', 'consistency'] as const;
export type VerifyStep = (typeof VERIFY_STEPS)[number];

export interface StepResult {
  readonly step: VerifyStep;
  readonly ok: boolean;
  /** A sentence for users. */
  readonly detail: string;
}

/** The executed steps: all of them if `ok`, else up to and including the failed one. */
export interface Verification {
  readonly ok: boolean;
  readonly steps: readonly StepResult[];
  readonly failedStep?: VerifyStep;
}

/** What an answer is verified against. The documents are untrusted. */
export interface VerifyOptions extends Pick<LedgerTrust, 'ledgerKey' | 'witnesses'> {
  /** The document at `provenance.public_key_url`. */
  readonly keySet: unknown;
  /** The document at `/ledger/receipts/{ledger_receipt_id}`. */
  readonly ledgerReceipt: unknown;
}

/**
 * Tolerance of `signed_at` around a key's period of validity: a server loads a rotation of another process within this time, and clocks
 * may be set back slightly.
 */
export const KEY_OVERLAP_MS = 5 * 60_000;

/** Verifies a JSON body that contains its receipt. Resolves for any value; rejects only if WebCrypto lacks Ed25519. */
export function verifyAnswer(body: unknown, options: VerifyOptions): Promise<Verification> {
  if (!isObject(body)) return Promise.resolve(failed([], 'content', 'The answer is not a JSON object.'));
  return verifySigned(body.provenance, (provenance) => bodySignedBytes(body, provenance), options);
}

/** An answer whose receipt is sent separately. */
export interface DetachedAnswer {
  readonly content: DetachedContent;
  readonly contentType: string;
  readonly provenance: unknown;
}

/** Verifies bytes whose receipt is in the `Stack-Provenance` header. */
export function verifyDetachedAnswer(answer: DetachedAnswer, options: VerifyOptions): Promise<Verification> {
  const { content, contentType } = answer;
  return verifySigned(
    answer.provenance,
    (provenance) => detachedSignedBytes(content, contentType, provenance),
    options,
  );
}

/** A verification that failed at a step; `passed` are the steps before it. */
export function failed(passed: readonly StepResult[], step: VerifyStep, detail: string): Verification {
  return { ok: false, failedStep: step, steps: [...passed, { step, ok: false, detail }] };
}

type Outcome<Value> = { readonly detail: string; readonly value: Value } | { readonly problem: string };

async function verifySigned(
  claimed: unknown,
  signedBytesOf: (provenance: Provenance) => Uint8Array,
  options: VerifyOptions,
): Promise<Verification> {
  const steps: StepResult[] = [];
  const take = <Value>(step: VerifyStep, outcome: Outcome<Value>): outcome is { detail: string; value: Value } => {
    const ok = 'value' in outcome;
    steps.push({ step, ok, detail: ok ? outcome.detail : outcome.problem });
    return ok;
  };
  const stopped = (): Verification => {
    const last = steps.pop();
    return failed(steps, last?.step ?? 'content', last?.detail ?? '');
  };

  const content = checkContent(claimed, signedBytesOf);
  if (!take('content', content)) return stopped();
  const { provenance, signedBytes } = content.value;
  const key = checkKey(provenance, options.keySet);
  if (!take('key', key)) return stopped();
  if (!take('signature', await checkSignature(provenance, signedBytes, key.value))) return stopped();
  const leaf = checkLeaf(provenance, signedBytes, options.ledgerReceipt);
  if (!take('leaf', leaf)) return stopped();
  const inclusion = checkInclusion(leaf.value);
  if (!take('inclusion', inclusion)) return stopped();
  if (!take('checkpoint', await checkCheckpoint(leaf.value, options))) return stopped();
  return { ok: true, steps };
}

const PROVENANCE_FIELDS = [
  'receipt_id',
  'signature',
  'public_key_url',
  'signed_at',
  'ledger_receipt_id',
  'key_id',
] as const satisfies readonly (keyof Provenance)[];

/** The provenance of an answer if all fields are present as texts; their content is not checked. */
export function readProvenance(claimed: unknown): Provenance | undefined {
  if (!isObject(claimed)) return undefined;
  const isComplete = PROVENANCE_FIELDS.every(
    (name) => Object.hasOwn(claimed, name) && typeof claimed[name] === 'string',
  );
  return isComplete ? (claimed as unknown as Provenance) : undefined;
}

function checkContent(
  claimed: unknown,
  signedBytesOf: (provenance: Provenance) => Uint8Array,
): Outcome<{ provenance: Provenance; signedBytes: Uint8Array }> {
  const provenance = readProvenance(claimed);
  if (!provenance) return { problem: 'The answer has no complete provenance.' };
  try {
    const signedBytes = signedBytesOf(provenance);
    const digest = encodeHex(sha256(signedBytes));
    return {
      detail: `The received content has SHA-256 ${digest}; the signature shows whether it was signed.`,
      value: { provenance, signedBytes },
    };
  } catch (error) {
    if (!(error instanceof CanonicalFormError)) throw error;
    return { problem: `The answer has no canonical form: ${error.message}.` };
  }
}

function checkKey(provenance: Provenance, keySet: unknown): Outcome<ReceiptKey> {
  const found = findReceiptKey(keySet, provenance.key_id);
  if ('problem' in found) return { problem: `No key to verify with: ${found.problem}.` };
  const signedAt = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(provenance.signed_at)
    ? Date.parse(provenance.signed_at)
    : Number.NaN;
  const { notBefore, notAfter } = found.key;
  // Written so that an invalid time on either side fails.
  if (!(signedAt >= notBefore - KEY_OVERLAP_MS && signedAt <= notAfter + KEY_OVERLAP_MS)) {
    return { problem: `Key ${provenance.key_id} was not in use at ${provenance.signed_at}.` };
  }
  return { detail: `Key ${provenance.key_id} is published and was in use.`, value: found.key };
}

async function checkSignature(
  provenance: Provenance,
  signedBytes: Uint8Array,
  key: ReceiptKey,
): Promise<Outcome<true>> {
  const text = provenance.signature;
  const signature = text.startsWith(SIGNATURE_PREFIX) ? decodeBase64(text.slice(SIGNATURE_PREFIX.length)) : undefined;
  if (signature?.length !== SIGNATURE_BYTES) return { problem: 'The signature is malformed.' };
  if (!(await verifyEd25519(key.publicKey, signature, signedBytes))) {
    return {
      problem: 'The signature does not match: the answer or its receipt was altered, or the key did not sign it.',
    };
  }
  return { detail: `The signature was made at ${provenance.signed_at}.`, value: true };
}

function checkLeaf(provenance: Provenance, signedBytes: Uint8Array, ledgerReceipt: unknown): Outcome<LedgerEvidence> {
  if (ledgerReceipt === undefined) return { problem: 'There is no ledger receipt.' };
  const leaf = leafOf(signedBytes, provenance);
  if (ledgerReceiptIdOf(leafHash(leaf)) !== provenance.ledger_receipt_id) {
    return { problem: 'The ledger receipt id does not belong to this answer.' };
  }
  const evidence = readLedgerReceipt(ledgerReceipt);
  if ('problem' in evidence) return { problem: `The ledger receipt is invalid: ${evidence.problem}.` };
  const isOfThisAnswer =
    evidence.ledgerReceiptId === provenance.ledger_receipt_id && evidence.receiptId === provenance.receipt_id;
  if (!isOfThisAnswer || !equalBytes(evidence.leaf, leaf)) {
    return { problem: 'The ledger has a different leaf under this id.' };
  }
  return { detail: `The ledger's leaf ${evidence.index} records this receipt.`, value: evidence };
}

function checkInclusion(evidence: LedgerEvidence): Outcome<true> {
  const { leaf, index, treeSize: size, proof } = evidence;
  // The root is not trusted yet; the next step verifies its signature.
  const checkpoint = checkpointOfNote(evidence.checkpoint);
  if (!checkpoint) return { problem: 'The checkpoint is malformed.' };
  if (checkpoint.size !== size)
    return { problem: `The checkpoint covers ${checkpoint.size} leaves, the proof ${size}.` };
  if (!verifyInclusion({ leafHash: leafHash(leaf), index, size, proof, root: checkpoint.root })) {
    return { problem: 'The proof does not connect the leaf to the root of the checkpoint.' };
  }
  return { detail: `The proof shows leaf ${index} in the tree of ${size} leaves.`, value: true };
}

async function checkCheckpoint(evidence: LedgerEvidence, options: VerifyOptions): Promise<Outcome<true>> {
  const published = publishedLedger(options.keySet);
  const pinned = options.ledgerKey === undefined ? undefined : parseVerifierKey(options.ledgerKey);
  if (options.ledgerKey !== undefined && !pinned) return { problem: 'The given ledger key is not a verifier key.' };
  const verifiers = pinned ? await vouchedKeys([pinned], published.rotations) : published.verifiers;
  const origin = pinned?.name ?? published.origin;
  if (verifiers.length === 0) return { problem: 'The key set contains no ledger key.' };
  const note = await openNote(evidence.checkpoint, verifiers);
  if (!note.ok) return { problem: `The checkpoint is not trusted: ${note.problem}.` };
  const checkpoint = parseCheckpoint(note.text);
  if (checkpoint?.origin !== origin) return { problem: `The checkpoint is not of the ledger ${origin}.` };
  const detail = `The checkpoint of ${checkpoint.size} leaves is signed by ${origin}.`;
  if (options.witnesses === undefined) return { detail, value: true };
  const policy = readWitnessPolicy(options.witnesses);
  if ('problem' in policy) return { problem: `The given witnesses are invalid: ${policy.problem}.` };
  const witnessed = await checkWitnesses(evidence.checkpoint, policy);
  return witnessed.ok ? { detail: `${detail} ${witnessed.detail}`, value: true } : { problem: witnessed.detail };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
