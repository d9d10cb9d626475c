// Signatures of peers: a peer id of an Ed25519 key holds that key, so that nothing else is needed to verify.
import { peerIdFromString } from '@libp2p/peer-id';

/** False for anything that is no such signature. */
export async function verifyPeerSignature(peer: string, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  try {
    const { publicKey } = peerIdFromString(peer);
    return publicKey !== undefined && (await publicKey.verify(bytes, signature));
  } catch {
    return false;
  }
}
