// Settings of a host, shared by gateway and worker.
import path from 'node:path';
import { peerIdFromString } from '@libp2p/peer-id';
import { multiaddr } from '@multiformats/multiaddr';
import { z } from 'zod';
import { KeyFileError, readSecret } from './identity/key-file.ts';
import type { PeerNodeOptions } from './peer-node.ts';

/** Values separated by spaces or commas, without duplicates. */
const listOf = (isValue: (value: string) => boolean, what: string) =>
  z.string().transform((text, context): readonly string[] => {
    const values = [...new Set(text.split(/[\s,]+/).filter((value) => value !== ''))];
    for (const value of values)
      if (!isValue(value)) context.addIssue({ code: 'custom', message: `'${value.slice(0, 200)}' is not a ${what}` });
    return values;
  });

const isParsed = (parse: (value: string) => unknown) => (value: string) => {
  try {
    parse(value);
    return true;
  } catch {
    return false;
  }
};

const Addresses = listOf(isParsed(multiaddr), 'multiaddr, such as /ip4/0.0.0.0/tcp/4001');
const PeerIds = listOf(isParsed(peerIdFromString), 'peer id');
const Switch = z.enum(['on', 'off']);

/** Addresses of peers: the setting STRATA_JOIN. Invalid ones are reported when joining. */
export const JoinAddresses = listOf(() => true, 'address')
  .optional()
  .describe('multiaddrs or join tokens, comma-separated');

/** Options of a host: the items of the setting STRATA_P2P. */
export const PeerItems = {
  listen: Addresses.optional().meta({
    description: 'multiaddrs to listen on',
    absent: 'gateway: TCP 9788 and WebSockets 9789; worker: TCP at a free port; on all interfaces',
  }),
  announce: Addresses.optional().describe('multiaddrs to advertise instead'),
  allow: PeerIds.optional().meta({ description: 'peer ids that may connect', absent: 'all' }),
  mdns: Switch.default('on').describe('find peers on the LAN'),
  relay: Switch.default('off').describe('relay for other hosts'),
  'private-addresses': Switch.default('on').describe('advertise addresses of the LAN'),
  'key-file': z.string().optional().meta({
    description: 'identity, created if missing',
    absent: '`peer.key` in the folder `inference` or `inference/worker` of the data directory',
  }),
  'network-key-file': z.string().optional().describe('key of a private network'),
};

export interface PeerSettings extends Omit<PeerNodeOptions, 'networkKey'> {
  readonly join: readonly string[];
  /** File with the pre-shared key of a private network. */
  readonly networkKeyFile?: string;
}

export interface PeerDefaults {
  /** Directory of the host's key and known addresses. */
  readonly directory: string;
  readonly listen: readonly string[];
}

export interface GivenPeerSettings {
  readonly STRATA_JOIN?: z.output<typeof JoinAddresses> | undefined;
  readonly STRATA_P2P: z.output<z.ZodObject<typeof PeerItems>>;
}

/** Reads the settings; missing values take the defaults of the service. Reads no file. */
export function readPeerSettings(
  { STRATA_JOIN: join = [], STRATA_P2P: items }: GivenPeerSettings,
  defaults: PeerDefaults,
): PeerSettings {
  const { announce, allow, 'network-key-file': networkKeyFile } = items;
  return {
    keyFile: items['key-file'] ?? path.join(defaults.directory, 'peer.key'),
    knownPeersFile: path.join(defaults.directory, 'known-peers.json'),
    join,
    listen: items.listen ?? defaults.listen,
    isMdnsOn: items.mdns === 'on',
    isRelay: items.relay === 'on',
    arePrivateAddressesAnnounced: items['private-addresses'] === 'on',
    ...(announce === undefined ? {} : { announce }),
    ...(allow === undefined ? {} : { allow }),
    ...(networkKeyFile === undefined ? {} : { networkKeyFile }),
  };
}

/** A file without a valid key of a private network. */
export class NetworkKeyError extends Error {
  override readonly name = 'NetworkKeyError';
  /** Of a program that ends with this error. */
  readonly exitCode = 1;
}

/**
 * Options for `startPeerNode`: reads the key of the private network, as 64 hex digits or as a swarm.key file, readable
 * by its owner only. Rejects with NetworkKeyError.
 */
export async function peerNodeOptions({ networkKeyFile, ...options }: PeerSettings): Promise<PeerNodeOptions> {
  if (networkKeyFile === undefined) return options;
  const bytes = await readSecret(networkKeyFile).catch((cause: unknown) => {
    if (cause instanceof KeyFileError) throw new NetworkKeyError(cause.message, { cause });
    throw new NetworkKeyError(`the network key cannot be read from ${networkKeyFile}`, { cause });
  });
  const text = Buffer.from(bytes).toString();
  // swarm.key: two header lines, then the key;
  // https://github.com/libp2p/specs/blob/master/pnet/Private-Networks-PSK-V1.md
  const hex = /^(?:\/key\/swarm\/psk\/1\.0\.0\/\s+\/base16\/\s+)?([0-9a-f]{64})\s*$/i.exec(text)?.[1];
  if (hex === undefined)
    throw new NetworkKeyError(`${networkKeyFile} does not contain a network key: 64 hexadecimal digits are expected`);
  return { ...options, networkKey: Buffer.from(hex, 'hex') };
}
