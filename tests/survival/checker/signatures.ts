// Receipts and checkpoints: their signed bytes and their Ed25519 signatures (docs/receipts.md, c2sp.org/signed-note).
import { createPublicKey, hash, type KeyObject, verify } from 'node:crypto';

/** A clock may differ from the one that dated the key by this. */
const TOLERANCE_MS = 300_000;

interface Jwk {
  readonly kid: string;
  readonly x: string;
  readonly not_before: string;
  readonly not_after?: string;
}
export interface KeySet {
  readonly keys: readonly Jwk[];
  readonly ledger: { readonly origin: string; readonly verifier_keys: readonly string[] };
}
export interface Checkpoint {
  readonly size: number;
  readonly root: Buffer;
}
interface Provenance {
  readonly receipt_id: string;
  readonly signature: string;
  readonly signed_at: string;
  readonly ledger_receipt_id?: string;
  readonly key_id: string;
}

const publicKey = (x: string): KeyObject => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });

/** RFC 8785 of what JSON.parse gives. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  // Code units of UTF-16 are what the default order compares.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(',')}}`;
}

/** The leaf that an answer must have in the ledger, or what is wrong with its receipt. */
export function leafOfAnswer(text: string, keySets: readonly KeySet[]): Buffer | string {
  const body = JSON.parse(text) as { readonly provenance?: Provenance };
  if (!body.provenance) return 'there is no receipt';
  const { signature, ledger_receipt_id: _id, ...signed } = body.provenance;
  const { receipt_id, key_id, signed_at } = signed;
  const bytes = Buffer.from(canonical({ ...body, provenance: signed }));
  const key = keySets.flatMap(({ keys }) => keys).findLast(({ kid }) => kid === key_id);
  if (!key) return `${receipt_id}: no key set has ${key_id}`;
  const thumbprint = hash('sha256', canonical({ crv: 'Ed25519', kty: 'OKP', x: key.x }), 'base64url');
  if (thumbprint !== key_id) return `${receipt_id}: ${key_id} is not the thumbprint of its key`;
  const at = Date.parse(signed_at);
  const [from, to] = [Date.parse(key.not_before), key.not_after ? Date.parse(key.not_after) : Number.POSITIVE_INFINITY];
  if (!(at >= from - TOLERANCE_MS && at <= to + TOLERANCE_MS)) return `${receipt_id}: ${signed_at} is not of its key`;
  const [, base64 = ''] = /^ed25519:(.+)$/.exec(signature) ?? [];
  if (!verify(null, bytes, publicKey(key.x), Buffer.from(base64, 'base64'))) return `${receipt_id}: a wrong signature`;
  const content_sha256 = hash('sha256', bytes, 'hex');
  return Buffer.from(canonical({ content_sha256, key_id, receipt_id, signature, signed_at }));
}

/** What a checkpoint says, or what is wrong with it. */
export function openCheckpoint(note: string, keySets: readonly KeySet[]): Checkpoint | string {
  const [, text = '', signatures = ''] = /^(.*?\n)\n((?:— .*\n)+)$/s.exec(note) ?? [];
  const [origin = '', size = '', root = ''] = text.split('\n');
  const known = keySets.flatMap(({ ledger }) => (ledger.origin === origin ? ledger.verifier_keys : []));
  const isSigned = signatures.split('\n').some((line) => {
    const [, name, base64 = ''] = /^— (\S+) (\S+)$/.exec(line) ?? [];
    const bytes = Buffer.from(base64, 'base64');
    return known.some((verifierKey) => {
      const [, keyName, id, key = ''] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(verifierKey) ?? [];
      if (keyName !== name || name !== origin || id !== bytes.toString('hex', 0, 4)) return false;
      const x = Buffer.from(key, 'base64').subarray(1).toString('base64url');
      return verify(null, Buffer.from(text), publicKey(x), bytes.subarray(4));
    });
  });
  if (!isSigned || !/^\d+$/.test(size)) return `no key of ${origin} signed the checkpoint of size ${size}`;
  return { size: Number(size), root: Buffer.from(root, 'base64') };
}
