// Issues receipts: the signed bytes, the provenance that is sent with an answer, and the leaf for the ledger.
import { encodeBase32, encodeBase64, encodeHex } from '../encoding/base-encoding.ts';
import { CanonicalFormError, canonicalForm, canonicalize, isPlain, shapeOf } from '../encoding/jcs.ts';
import { ulid } from '../encoding/ulid.ts';
import type { Signer } from '../notes/ed25519.ts';
import { leafHash, sha256 } from '../tree/merkle.ts';

/** The `provenance` member of every answer. */
export interface Provenance {
  /** `rwr_` and a ULID. */
  readonly receipt_id: string;
  /** `ed25519:` and standard base64. */
  readonly signature: string;
  readonly public_key_url: string;
  /** ISO 8601 UTC. */
  readonly signed_at: string;
  /** `cr_` and 32 characters of base32, computed from the leaf. */
  readonly ledger_receipt_id: string;
  /** RFC 7638 thumbprint of the signing key. */
  readonly key_id: string;
}

/** The part of the provenance that is itself signed. */
export type SignedProvenance = Omit<Provenance, 'signature' | 'ledger_receipt_id'>;

export type SignedBody<Body extends object = Record<string, unknown>> = Body & { readonly provenance: Provenance };

export interface IssueOptions {
  readonly signer: Signer;
  readonly now: Date;
  /** At least 10 random bytes. */
  readonly random: Uint8Array;
  readonly publicKeyUrl: string;
  /** The id, if it was assigned before there was anything to sign; of `newReceiptId`. */
  readonly receiptId?: string;
  /** The platform's SHA-256; the JavaScript one of this package takes several times as long for large answers. */
  readonly digest?: (bytes: Uint8Array) => Uint8Array;
}

/** A receipt that may be sent once `leaf` is durable in the ledger. */
export interface IssuedReceipt {
  readonly provenance: Provenance;
  /** JCS form of the leaf for the ledger. */
  readonly leaf: Uint8Array;
  readonly receiptId: string;
  readonly ledgerReceiptId: string;
}

/** The fields of a receipt in its leaf. */
export interface LeafFields {
  /** Hex SHA-256 of the signed bytes. */
  readonly content_sha256: string;
  readonly key_id: string;
  readonly receipt_id: string;
  readonly signature: string;
  readonly signed_at: string;
}

const utf8 = new TextEncoder();
export const SIGNATURE_PREFIX = 'ed25519:';

/** Signs a body. Throws CanonicalFormError for anything that JSON cannot represent, and TypeError for a body that has a receipt. */
export function issueReceipt<Body extends object>(
  body: Body,
  options: IssueOptions,
): IssuedReceipt & { body: SignedBody<Body> } {
  const { signedBytes, finish } = prepareReceipt(body, options);
  return finish(options.signer.sign(signedBytes));
}

/** Only the key id of the signer is needed. */
export type PrepareOptions = Omit<IssueOptions, 'signer'> & { readonly signer: Pick<Signer, 'keyId'> };

/** A receipt without its signature, for a caller that signs elsewhere, such as in another thread. */
export interface PreparedReceipt<Body extends object> {
  readonly signedBytes: Uint8Array;
  /** Takes the 64-byte signature over `signedBytes` by the key with the given id. `text` is that of `JSON.stringify(body)`. */
  finish(signature: Uint8Array): IssuedReceipt & { readonly body: SignedBody<Body>; text(): string };
}

/** As `issueReceipt`, without signing. */
export function prepareReceipt<Body extends object>(body: Body, options: PrepareOptions): PreparedReceipt<Body> {
  if (Object.hasOwn(body, 'provenance')) throw new TypeError('the body already has a receipt');
  if (!isPlain(body)) throw new CanonicalFormError('the body is not a plain object');
  const members: Record<string, unknown> = { ...body, provenance: undefined };
  const { names, written, sorted } = shapeOf(members);
  // Of the provenance, which is the last, once it is known.
  const forms = names.slice(0, -1).map((name) => canonicalForm(members[name], 1));
  const { signedBytes, finish } = prepare((provenance) => {
    const texts = [...forms, canonicalForm(provenance, 1)];
    return utf8.encode(objectText(sorted.map((at) => `${written[at]}${texts[at]?.text}`)));
  }, options);
  return {
    signedBytes,
    finish(signature) {
      const issued = finish(signature);
      const { provenance } = issued;
      return {
        ...issued,
        body: { ...body, provenance },
        // What was signed in its own order is not written again.
        text() {
          const own = forms.map(({ text, isSorted }, at) => {
            return `${written[at]}${isSorted ? text : JSON.stringify(members[names[at] as string])}`;
          });
          return objectText([...own, `"provenance":${JSON.stringify(provenance)}`]);
        },
      };
    },
  };
}

const objectText = (members: readonly string[]): string => `{${members.join(',')}}`;

/** Content outside of its receipt, or its SHA-256: of a file that is not held in memory. */
export type DetachedContent = Uint8Array | { readonly sha256: Uint8Array };

/** Signs bytes that cannot contain their receipt, such as CSV. */
export function issueDetachedReceipt(
  content: DetachedContent,
  contentType: string,
  options: IssueOptions,
): IssuedReceipt {
  const { signedBytes, finish } = prepare(
    (provenance) => detachedSignedBytes(content, contentType, provenance, options.digest),
    options,
  );
  return finish(options.signer.sign(signedBytes));
}

/** Signed bytes of a body: the JCS form of the body without `signature` and `ledger_receipt_id` in its provenance. */
export function bodySignedBytes(body: object, provenance: object): Uint8Array {
  return utf8.encode(canonicalize({ ...body, provenance: withoutOutcome(provenance) }));
}

/** Signed bytes of a detached receipt: the JCS form of `{content_sha256, content_type, provenance}`. */
export function detachedSignedBytes(
  content: DetachedContent,
  contentType: string,
  provenance: object,
  digest: (bytes: Uint8Array) => Uint8Array = sha256,
): Uint8Array {
  const content_sha256 = encodeHex('sha256' in content ? content.sha256 : digest(content));
  return utf8.encode(
    canonicalize({ content_sha256, content_type: contentType, provenance: withoutOutcome(provenance) }),
  );
}

/** The leaf of a receipt: a JCS text. */
export function leafOf(
  signedBytes: Uint8Array,
  provenance: Omit<LeafFields, 'content_sha256'>,
  digest: (bytes: Uint8Array) => Uint8Array = sha256,
): Uint8Array {
  const { key_id, receipt_id, signature, signed_at } = provenance;
  const content_sha256 = encodeHex(digest(signedBytes));
  return utf8.encode(canonicalize({ content_sha256, key_id, receipt_id, signature, signed_at }));
}

/** Bytes of the leaf hash in the id: 160 bits are exactly 32 characters of base32. */
export const LEDGER_ID_BYTES = 20;

/** The ledger's id of a leaf, from its RFC 6962 leaf hash. */
export function ledgerReceiptIdOf(hash: Uint8Array): string {
  return `cr_${encodeBase32(hash.subarray(0, LEDGER_ID_BYTES))}`;
}

/** Removes the two fields that exist only after signing; all other fields are signed, including unknown ones. */
function withoutOutcome(provenance: object): object {
  const { signature: _signature, ledger_receipt_id: _ledger, ...signed } = provenance as Record<string, unknown>;
  return signed;
}

/** `rwr_` and a ULID of the time and at least 10 random bytes: ids sort by time. */
export function newReceiptId(now: Date, random: Uint8Array): string {
  return `rwr_${ulid(now, random)}`;
}

function prepare(
  signedBytesOf: (provenance: SignedProvenance) => Uint8Array,
  { signer: { keyId: key_id }, now, random, publicKeyUrl, receiptId, digest }: PrepareOptions,
): { readonly signedBytes: Uint8Array; readonly finish: (signature: Uint8Array) => IssuedReceipt } {
  const receipt_id = receiptId ?? newReceiptId(now, random);
  const signed = { key_id, public_key_url: publicKeyUrl, receipt_id, signed_at: now.toISOString() };
  const signedBytes = signedBytesOf(signed);
  return {
    signedBytes,
    finish(bytes) {
      const signature = SIGNATURE_PREFIX + encodeBase64(bytes);
      const leaf = leafOf(signedBytes, { ...signed, signature }, digest);
      const ledger_receipt_id = ledgerReceiptIdOf(leafHash(leaf, digest));
      return {
        provenance: {
          ...{ receipt_id, signature, public_key_url: publicKeyUrl },
          ...{ signed_at: signed.signed_at, ledger_receipt_id, key_id },
        },
        leaf,
        receiptId: receipt_id,
        ledgerReceiptId: ledger_receipt_id,
      };
    },
  };
}
