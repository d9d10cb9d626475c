// The published key set: a JWK Set (RFC 7517, RFC 8037) of receipt keys, with the ledger's keys.
import { decodeBase64Url, encodeBase64Url } from '../encoding/base-encoding.ts';
import { PUBLIC_KEY_BYTES } from '../notes/ed25519.ts';
import { formatVerifierKey, type NoteVerifier, noteVerifier, parseVerifierKey } from '../notes/note.ts';
import { sha256 } from '../tree/merkle.ts';

/** A receipt key in the key set. Times are ISO 8601 UTC. */
export interface PublicKeyEntry {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  /** 32 bytes in base64url. */
  readonly x: string;
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly alg: 'EdDSA';
  readonly use: 'sig';
  readonly status: 'current' | 'retired';
  readonly not_before: string;
  /** Present for retired keys: receipts signed later are invalid. */
  readonly not_after?: string;
}

/** How to verify the ledger's checkpoints: RFC 7517 section 5 allows further members in a JWK Set. */
export interface LedgerEntry {
  /** First line of every checkpoint, and the name of its signing keys. */
  readonly origin: string;
  /** Path of the ledger, relative to the service; ends with a slash. */
  readonly url: string;
  /** C2SP verifier keys, the current one first, then retired ones. */
  readonly verifier_keys: readonly string[];
  /** Signed notes in which a key vouches for its successor, newest first; omitted without rotations. */
  readonly rotations?: readonly string[];
}

export interface KeySet {
  readonly keys: readonly PublicKeyEntry[];
  readonly ledger: LedgerEntry;
}

/** RFC 7638 thumbprint of an OKP key: SHA-256 over its required members in order, base64url. */
export function jwkThumbprint({ kty, crv, x }: Pick<PublicKeyEntry, 'kty' | 'crv' | 'x'>): string {
  return encodeBase64Url(sha256(new TextEncoder().encode(JSON.stringify({ crv, kty, x }))));
}

/** Key id of an Ed25519 public key of 32 bytes. */
export function keyIdOf(publicKey: Uint8Array): string {
  return jwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: encodeBase64Url(publicKey) });
}

/** Key set entry of an Ed25519 public key. */
export function publicKeyEntry(
  publicKey: Uint8Array,
  life: Pick<PublicKeyEntry, 'status' | 'not_before' | 'not_after'>,
): PublicKeyEntry {
  const x = encodeBase64Url(publicKey);
  const kid = keyIdOf(publicKey);
  return { kty: 'OKP', crv: 'Ed25519', x, kid, alg: 'EdDSA', use: 'sig', ...life };
}

/** The `ledger` member of a key set, from the ledger's own keys, the current one first. */
export function ledgerEntry(
  keys: readonly PublicKeyEntry[],
  { origin, url, rotations = [] }: Pick<LedgerEntry, 'origin' | 'url' | 'rotations'>,
): LedgerEntry {
  const verifier_keys = keys.map(({ x, kid }) => {
    const publicKey = decodeBase64Url(x);
    if (!publicKey) throw new RangeError(`key ${kid} is not base64url`);
    return formatVerifierKey(noteVerifier(origin, publicKey));
  });
  return { origin, url, verifier_keys, ...(rotations.length > 0 && { rotations }) };
}

/** The document served at `/.well-known/stack-keys.json`. */
export function keySetDocument(keys: readonly PublicKeyEntry[], ledger: LedgerEntry): KeySet {
  return { keys, ledger };
}

/** A receipt key from an untrusted key set. */
export interface ReceiptKey {
  readonly publicKey: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
}

const MAX_KEYS = 1000;
/** Each may cost a signature verification for each other key. */
const MAX_ROTATIONS = 100;

/** The key with an id, or why it is missing. The id must be the thumbprint of the key, whatever the document claims. */
export function findReceiptKey(keySet: unknown, keyId: string): { key: ReceiptKey } | { problem: string } {
  const keys = member(keySet, 'keys');
  if (!Array.isArray(keys) || keys.length > MAX_KEYS) return { problem: 'the key set has no valid list of keys' };
  for (const entry of keys as unknown[]) {
    if (member(entry, 'kid') !== keyId) continue;
    const x = member(entry, 'x');
    const publicKey = typeof x === 'string' ? decodeBase64Url(x) : undefined;
    if (
      member(entry, 'kty') !== 'OKP' ||
      member(entry, 'crv') !== 'Ed25519' ||
      publicKey?.length !== PUBLIC_KEY_BYTES
    ) {
      return { problem: `key ${keyId} is not an Ed25519 key` };
    }
    if (keyIdOf(publicKey) !== keyId) return { problem: `key ${keyId} does not match its thumbprint` };
    const notBefore = timeOf(member(entry, 'not_before')) ?? Number.NEGATIVE_INFINITY;
    const notAfter = timeOf(member(entry, 'not_after')) ?? Number.POSITIVE_INFINITY;
    return { key: { publicKey, notBefore, notAfter } };
  }
  return { problem: `the key set does not contain key ${keyId}` };
}

/** The ledger that a key set describes. */
export interface PublishedLedger {
  readonly origin: string;
  readonly verifiers: readonly NoteVerifier[];
  /** Unverified notes, for `vouchedKeys`. */
  readonly rotations: readonly string[];
}

/** Reads an untrusted key set; empty if it describes no ledger. */
export function publishedLedger(keySet: unknown): PublishedLedger {
  const ledger = member(keySet, 'ledger');
  const origin = member(ledger, 'origin');
  const verifiers = textsOf(member(ledger, 'verifier_keys'), MAX_KEYS).flatMap((text) => {
    const verifier = parseVerifierKey(text);
    return verifier && verifier.name === origin ? [verifier] : [];
  });
  if (typeof origin !== 'string') return { origin: '', verifiers: [], rotations: [] };
  return { origin, verifiers, rotations: textsOf(member(ledger, 'rotations'), MAX_ROTATIONS) };
}

const textsOf = (value: unknown, max: number): string[] =>
  Array.isArray(value) ? value.slice(0, max).filter((each) => typeof each === 'string') : [];

/** The path at which the ledger is served, from the key set; ends with a slash. */
export function ledgerPathOf(keySet: unknown): string {
  const url = member(member(keySet, 'ledger'), 'url');
  return typeof url === 'string' && /^\/(?:[\w.~-]+\/)*$/.test(url) ? url : '/ledger/';
}

function timeOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  // An invalid limit must not lift the limit: NaN makes every comparison false.
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

/** Own member of a value of any kind. */
function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
