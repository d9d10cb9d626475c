// A key that signs releases.
import { generateKeyPairSync, sign } from 'node:crypto';
import { noteVerifier } from '@strata/receipts';

export function newSigner(name = 'catalog.example') {
  const { privateKey, publicKey: ofPair } = generateKeyPairSync('ed25519');
  const publicKey = new Uint8Array(Buffer.from(ofPair.export({ format: 'jwk' }).x ?? '', 'base64url'));
  const verifier = noteVerifier(name, publicKey);
  return { name, publicKey, verifier, sign: (bytes: Uint8Array) => sign(null, bytes, privateKey) };
}
