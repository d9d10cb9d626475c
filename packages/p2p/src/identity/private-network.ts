// A private network: without its key a host can neither complete a handshake nor be discovered on the LAN.
import { createHash } from 'node:crypto';

export const NETWORK_KEY_BYTES = 32;

/** The network key from the option or a join token; undefined: the open network. Throws if they differ. */
export function networkKeyOf(
  option: Uint8Array | undefined,
  tokens: readonly { readonly networkKey?: Uint8Array }[],
): Uint8Array | undefined {
  if (option && option.byteLength !== NETWORK_KEY_BYTES)
    throw new RangeError(`a network key has ${NETWORK_KEY_BYTES} bytes, not ${option.byteLength}`);
  const keys = [option, ...tokens.map(({ networkKey }) => networkKey)].filter((key) => key !== undefined);
  const [first] = keys;
  if (first && keys.some((key) => Buffer.compare(key, first) !== 0))
    throw new RangeError('the network key and the join tokens belong to different private networks');
  return first;
}

/** In libp2p's file format: https://github.com/libp2p/specs/blob/master/pnet/Private-Networks-PSK-V1.md */
export function presharedKeyFile(networkKey: Uint8Array): Uint8Array {
  return new TextEncoder().encode(`/key/swarm/psk/1.0.0/\n/base16/\n${Buffer.from(networkKey).toString('hex')}`);
}

/** The mDNS service name of a network; does not reveal the key. */
export function lanServiceName(networkKey: Uint8Array | undefined): string {
  if (!networkKey) return '_strata._udp.local';
  const digest = createHash('sha256').update('strata lan ').update(networkKey).digest('hex');
  return `_strata-${digest.slice(0, 16)}._udp.local`;
}
