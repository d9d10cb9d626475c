// A join token: everything a host needs to reach another one, as one word to copy. With a network key in it, it is a
// secret.
//
// `strata1` and base58 of: flags (bit 0: a network key follows) · the Ed25519 key of the peer (32) · [network key (32)]
// · addresses, each preceded by its length (1 byte), without the peer id · the first 4 bytes of the SHA-256 of all of
// these.
import { createHash } from 'node:crypto';
import { publicKeyFromRaw } from '@libp2p/crypto/keys';
import { peerIdFromPublicKey, peerIdFromString } from '@libp2p/peer-id';
import { CODE_P2P, multiaddr } from '@multiformats/multiaddr';
import { base58btc } from 'multiformats/bases/base58';
import { NETWORK_KEY_BYTES } from '../identity/private-network.ts';

export interface JoinToken {
  readonly peer: string;
  /** Multiaddrs, each with the peer id. */
  readonly addresses: readonly string[];
  readonly networkKey?: Uint8Array;
}

export class JoinTokenError extends Error {
  override readonly name = 'JoinTokenError';
}

const PREFIX = 'strata1';
const MAX_ADDRESSES = 8;
/** Decoding base58 takes time quadratic in its length. */
const MAX_CHARACTERS = 2048;
const KEY_BYTES = 32;
const CHECK_BYTES = 4;
const HAS_NETWORK_KEY = 1;

export function isJoinToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/**
 * Includes the first 8 addresses that fit; throws JoinTokenError without an address, or if the peer id has no Ed25519 key.
 */
export function createJoinToken({ peer, addresses, networkKey }: JoinToken): string {
  const key = peerIdFromString(peer).publicKey;
  if (key?.type !== 'Ed25519') throw new JoinTokenError('a join token needs a peer id with an Ed25519 key');
  const encoded = addresses
    .map((address) => multiaddr(address).decapsulateCode(CODE_P2P).bytes)
    .filter(({ byteLength }) => byteLength > 0 && byteLength < 128)
    .slice(0, MAX_ADDRESSES);
  if (encoded.length === 0) throw new JoinTokenError('a host without an address cannot be joined');
  const body = Buffer.concat([
    Uint8Array.of(networkKey ? HAS_NETWORK_KEY : 0),
    key.raw,
    networkKey ?? new Uint8Array(),
    ...encoded.flatMap((bytes) => [Uint8Array.of(bytes.byteLength), bytes]),
  ]);
  return `${PREFIX}${base58btc.baseEncode(Buffer.concat([body, check(body)]))}`;
}

/** Throws JoinTokenError with a message for the user who pasted it. */
export function readJoinToken(text: string): JoinToken {
  if (!isJoinToken(text)) throw new JoinTokenError(`a join token begins with ${PREFIX}`);
  if (text.length > MAX_CHARACTERS) throw new JoinTokenError('this join token is too long');
  let bytes: Uint8Array;
  try {
    bytes = base58btc.baseDecode(text.slice(PREFIX.length));
  } catch (cause) {
    throw new JoinTokenError('this join token contains invalid characters', { cause });
  }
  const body = bytes.subarray(0, -CHECK_BYTES);
  if (bytes.byteLength < 1 + KEY_BYTES + CHECK_BYTES || Buffer.compare(check(body), bytes.subarray(-CHECK_BYTES)) !== 0)
    throw new JoinTokenError('this join token is damaged: copy it again completely');
  try {
    return parse(body);
  } catch (cause) {
    throw new JoinTokenError('this join token was made by another version', { cause });
  }
}

function parse(body: Uint8Array): JoinToken {
  const flags = body[0] ?? 0;
  if ((flags & ~HAS_NETWORK_KEY) !== 0) throw new RangeError(`unknown flags ${flags}`);
  let at = 1;
  const take = (length: number): Uint8Array => {
    if (at + length > body.byteLength) throw new RangeError('it ends too soon');
    at += length;
    return body.slice(at - length, at);
  };
  const peer = peerIdFromPublicKey(publicKeyFromRaw(take(KEY_BYTES))).toString();
  const networkKey = flags === HAS_NETWORK_KEY ? take(NETWORK_KEY_BYTES) : undefined;
  const addresses: string[] = [];
  while (at < body.byteLength) {
    const [length = 0] = take(1);
    if (length === 0) throw new RangeError('an empty address');
    addresses.push(`${multiaddr(take(length))}/p2p/${peer}`);
  }
  if (addresses.length === 0 || addresses.length > MAX_ADDRESSES) throw new RangeError(`${addresses.length} addresses`);
  return { peer, addresses, ...(networkKey && { networkKey }) };
}

function check(body: Uint8Array): Uint8Array {
  return createHash('sha256').update(PREFIX).update(body).digest().subarray(0, CHECK_BYTES);
}
