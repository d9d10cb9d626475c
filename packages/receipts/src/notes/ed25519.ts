// Ed25519 (RFC 8032): signers, and verification by WebCrypto, which Node and browsers share.

export const PUBLIC_KEY_BYTES = 32;
export const SIGNATURE_BYTES = 64;

/** Signs with an Ed25519 key. `keyId` and `sign` use the same key within a synchronous section, even during a rotation. */
export interface Signer {
  /** RFC 7638 thumbprint of the public key. */
  readonly keyId: string;
  /** 64 bytes. */
  sign(bytes: Uint8Array): Uint8Array;
}

/** Whether `signature` over `bytes` was made by the key. False for malformed keys and signatures. */
export async function verifyEd25519(publicKey: Uint8Array, signature: Uint8Array, bytes: Uint8Array): Promise<boolean> {
  if (publicKey.length !== PUBLIC_KEY_BYTES || signature.length !== SIGNATURE_BYTES) return false;
  const { subtle } = globalThis.crypto;
  let key: CryptoKey;
  try {
    key = await subtle.importKey('raw', new Uint8Array(publicKey), 'Ed25519', false, ['verify']);
  } catch (cause) {
    // A point that is not on the curve is an invalid key; a runtime without Ed25519 must not appear as a forgery.
    if (cause instanceof DOMException && cause.name === 'NotSupportedError') {
      throw new Error('this runtime has no Ed25519 in WebCrypto', { cause });
    }
    return false;
  }
  return subtle.verify('Ed25519', key, new Uint8Array(signature), new Uint8Array(bytes));
}
