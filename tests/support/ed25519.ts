// Ed25519 keys that are the same in each run.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';

/** PKCS #8 of an Ed25519 seed, RFC 8410 section 7. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A key made of one repeated seed byte. */
export function ed25519Key(seedByte: number) {
  const der = Buffer.concat([PKCS8, Buffer.alloc(32, seedByte)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const publicKey = new Uint8Array(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32));
  return { publicKey, sign: (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, privateKey)) };
}
