// Who has what: provider records in a Kademlia DHT of this network alone, told again before they end, and dialled when found.
import type { Libp2p, PeerId, PeerInfo } from '@libp2p/interface';
import { type KadDHT, kadDHT, passthroughMapper, removePrivateAddressesMapper } from '@libp2p/kad-dht';
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import { CID } from 'multiformats/cid';
import { sha256 } from 'multiformats/hashes/sha2';
import type { Gate } from '../connections/gate.ts';
import { KNOWN_PEERS, RECORDS } from '../limits.ts';
import { limitDht } from './limit-dht.ts';

const RAW_CODEC = 0x55;
/** A record is kept by so many of the closest peers; with more there is nothing to gain from a newcomer. */
const REPLICAS = 20;
/** Newcomers of one moment are told together. */
const NEWCOMER_DELAY_MS = 250;
const TELL_TIMEOUT_MS = 5_000;

export interface DhtOptions {
  readonly arePrivateAddressesTold: boolean;
  /** A host that nobody can dial asks, and answers nothing. */
  readonly isDialable: boolean;
}

export function dhtService({ arePrivateAddressesTold, isDialable }: DhtOptions): ReturnType<typeof kadDHT> {
  const create = kadDHT({
    // Its own prefix: nothing is shared with IPFS.
    protocol: '/strata/kad/1.0.0',
    // libp2p would wait until a public address is proved, which never happens on a LAN.
    clientMode: !isDialable,
    // The default drops private addresses, and with them every network on one machine or one LAN.
    peerInfoMapper: arePrivateAddressesTold ? passthroughMapper : removePrivateAddressesMapper,
    // The default waits a second before the first look around, and with it every query.
    initialQuerySelfInterval: 100,
    alpha: RECORDS.parallelQueries,
    disjointPaths: RECORDS.disjointPaths,
    maxInboundStreams: RECORDS.maxStreams,
    // Records of others end here; one's own are told again below, whether or not they are still in the bounded store.
    reprovide: { validity: RECORDS.providerValidityMs, threshold: 0, interval: RECORDS.provideEveryMs },
    // The DHT holds provider records and nothing else: keys of peers are in their ids.
    validators: {
      pk: () => {
        throw new Error('no such records here');
      },
    },
  });
  return (components) => limitDht(create(components), (peer) => components.connectionManager.getConnections(peer));
}

export interface Providers extends AsyncDisposable {
  provide(key: Uint8Array): Promise<void>;
  find(key: Uint8Array, options: { readonly signal: AbortSignal }): AsyncIterable<string>;
}

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
}

/** A key is told at once where there is anyone to tell, and to newcomers while fewer hold it than should. */
export function createProviders(node: Libp2p<{ dht: KadDHT }>, gate: Gate): Providers {
  const { dht } = node.services;
  const stop = new AbortController();
  const keys = new Map<string, { readonly cid: CID; holders: number }>();
  let newcomers: NodeJS.Timeout | undefined;
  let telling: Promise<void> = Promise.resolve();

  const tell = async (entry: { readonly cid: CID; holders: number }) => {
    let holders = 0;
    try {
      // Where nobody speaks the DHT the query would wait for who does.
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(TELL_TIMEOUT_MS)]);
      for await (const event of dht.provide(entry.cid, { signal }))
        if (event.name === 'PEER_RESPONSE' && event.messageName === 'ADD_PROVIDER') holders += 1;
    } catch {
      // Nobody could be asked; the next newcomer is.
    }
    entry.holders = holders;
  };

  const onPeer = () => {
    if (stop.signal.aborted || newcomers || [...keys.values()].every(({ holders }) => holders >= REPLICAS)) return;
    newcomers = setTimeout(() => {
      newcomers = undefined;
      telling = telling.then(async () => {
        for (const entry of keys.values()) if (entry.holders < REPLICAS) await tell(entry);
      });
    }, NEWCOMER_DELAY_MS).unref();
  };
  node.addEventListener('peer:identify', onPeer);
  const refreshing = setInterval(() => {
    telling = telling.then(async () => {
      for (const entry of keys.values()) await tell(entry);
    });
  }, RECORDS.provideEveryMs).unref();

  return {
    async provide(key) {
      const cid = await cidOf(key);
      const name = cid.toString();
      if (keys.has(name)) return;
      if (keys.size >= RECORDS.maxProvided) throw new ProviderError(`${keys.size} keys are provided already`);
      const entry = { cid, holders: 0 };
      keys.set(name, entry);
      // With nobody around a query would wait for the first peer.
      if (node.getPeers().length > 0) telling = telling.then(() => tell(entry));
      await telling;
    },
    find: (key, { signal }) => findProviders(node, gate, key, AbortSignal.any([signal, stop.signal])),
    async [Symbol.asyncDispose]() {
      stop.abort();
      clearTimeout(newcomers);
      clearInterval(refreshing);
      node.removeEventListener('peer:identify', onPeer);
      await telling;
    },
  };
}

async function* findProviders(
  node: Libp2p<{ dht: KadDHT }>,
  gate: Gate,
  key: Uint8Array,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const cid = await cidOf(key);
  const seen = new Set<string>();
  const dialledFor = new Map<string, number>();
  const connected: string[] = [];
  const dials = new Set<Promise<void>>();
  const dial = async (id: PeerId, addresses: readonly Multiaddr[]) => {
    try {
      await node.dial(addresses.length > 0 ? [...addresses] : id, { signal });
      connected.push(id.toString());
    } catch {
      // Gone, or not to be reached from here.
    }
  };
  try {
    for await (const event of node.services.dht.findProviders(cid, { signal })) {
      if (event.name !== 'PROVIDER') continue;
      for (const provider of event.providers) {
        const id = provider.id.toString();
        if (seen.has(id) || !gate.isAllowed(id)) continue;
        if (node.getConnections(provider.id).length > 0) {
          seen.add(id);
          connected.push(id);
          continue;
        }
        // Whoever answers can name anyone at any address: it does not make this host dial the world.
        const answerer = event.from.toString();
        const count = dialledFor.get(answerer) ?? 0;
        if (count >= RECORDS.maxDialledPerAnswerer || seen.size >= RECORDS.maxFound) break;
        dialledFor.set(answerer, count + 1);
        seen.add(id);
        while (dials.size >= RECORDS.parallelFinds) await Promise.race(dials);
        const addresses = worthDialling(provider, isFar(node, event.from));
        const dialled = dial(provider.id, addresses).finally(() => dials.delete(dialled));
        dials.add(dialled);
      }
      yield* connected.splice(0);
    }
  } catch (error) {
    // Time is up: what was found is found.
    if (!signal.aborted) throw error;
  }
  while (dials.size > 0) {
    await Promise.race(dials);
    yield* connected.splice(0);
  }
  yield* connected.splice(0);
}

/** Whether a peer is connected from elsewhere than this machine and its LAN. */
function isFar(node: Libp2p, peer: PeerId): boolean {
  const multiaddrs = node.getConnections(peer).map(({ remoteAddr }) => remoteAddr);
  return removePrivateAddressesMapper({ id: peer, multiaddrs }).multiaddrs.length > 0;
}

/** A few of its addresses; none of a LAN where somebody else than a neighbour told of them. */
export function worthDialling(provider: PeerInfo, isToldFromAfar: boolean): readonly Multiaddr[] {
  const { id, multiaddrs } = isToldFromAfar ? removePrivateAddressesMapper(provider) : provider;
  const suffix = `/p2p/${id}`;
  return multiaddrs
    .slice(0, KNOWN_PEERS.maxAddresses)
    .map((address) => (address.toString().endsWith(suffix) ? address : multiaddr(`${address}${suffix}`)));
}

/** Raw content with this digest: what the DHT's keys have to look like. */
async function cidOf(key: Uint8Array): Promise<CID> {
  return CID.createV1(RAW_CODEC, await sha256.digest(key));
}
