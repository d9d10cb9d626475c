// Verifies signatures of peers: the peer id of an Ed25519 key contains the public key.
import { peerIdFromString } from '@libp2p/peer-id';

/** False for an invalid signature or peer id. */
export async function verifyPeerSignature(peer: string, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  try {
    const { publicKey } = peerIdFromString(peer);
    return publicKey !== undefined && (await publicKey.verify(bytes, signature));
  } catch {
    return false;
  }
}
