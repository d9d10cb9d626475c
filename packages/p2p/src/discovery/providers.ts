// Content discovery: provider records in a Kademlia DHT of this network, renewed before they expire, and dialled when
// found.
import type { Connection, Libp2p, PeerId, PeerInfo } from '@libp2p/interface';
import { type KadDHT, kadDHT, passthroughMapper, removePrivateAddressesMapper } from '@libp2p/kad-dht';
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr';
import { RateLimiter } from '@strata/limits';
import { CID } from 'multiformats/cid';
import { sha256 } from 'multiformats/hashes/sha2';
import type { Gate } from '../connections/gate.ts';
import { remoteHost } from '../connections/remote-host.ts';
import { KNOWN_PEERS, RECORDS } from '../limits.ts';

const RAW_CODEC = 0x55;
/** Each record is stored at this number of closest peers; with more, new peers need not be considered. */
const REPLICAS = 20;
/** Peers that connect within this delay are handled together. */
const NEW_PEERS_DELAY_MS = 250;
const PUBLISH_TIMEOUT_MS = 5_000;

interface DhtOptions {
  readonly arePrivateAddressesAnnounced: boolean;
  /** A host that cannot be dialled only queries, and answers nothing. */
  readonly isDialable: boolean;
}

export function dhtService({ arePrivateAddressesAnnounced, isDialable }: DhtOptions): ReturnType<typeof kadDHT> {
  const create = kadDHT({
    // Its own prefix: separate from IPFS.
    protocol: '/strata/kad/1.0.0',
    // libp2p would wait until a public address is confirmed, which never happens on a LAN.
    clientMode: !isDialable,
    // The default drops private addresses, and with them every network on one machine or one LAN.
    peerInfoMapper: arePrivateAddressesAnnounced ? passthroughMapper : removePrivateAddressesMapper,
    // The default delays the first self-query by a second, and with it every query.
    initialQuerySelfInterval: 100,
    alpha: RECORDS.parallelQueries,
    disjointPaths: RECORDS.disjointPaths,
    maxInboundStreams: RECORDS.maxStreams,
    // Records of other peers expire here; own records are renewed below, whether or not they are still in the bounded
    // store.
    reprovide: { validity: RECORDS.providerValidityMs, threshold: 0, interval: RECORDS.provideEveryMs },
    // The DHT stores provider records only: public keys are in the peer ids.
    validators: {
      pk: () => {
        throw new Error('this record type is not supported');
      },
    },
  });
  return (components) => limitDht(create(components), (peer) => components.connectionManager.getConnections(peer));
}

export interface Providers extends AsyncDisposable {
  provide(key: Uint8Array): Promise<void>;
  find(key: Uint8Array, options: { readonly signal: AbortSignal }): AsyncIterable<string>;
}

class ProviderError extends Error {
  override readonly name = 'ProviderError';
}

/** Publishes a key at once if there are peers, and to new peers while fewer than `REPLICAS` hold it. */
export function createProviders(node: Libp2p<{ dht: KadDHT }>, gate: Gate): Providers {
  const { dht } = node.services;
  const stop = new AbortController();
  const keys = new Map<string, { readonly cid: CID; holders: number }>();
  let newPeers: NodeJS.Timeout | undefined;
  let publishing: Promise<void> = Promise.resolve();

  const publish = async (entry: { readonly cid: CID; holders: number }) => {
    let holders = 0;
    try {
      // Without DHT peers the query would wait for one.
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(PUBLISH_TIMEOUT_MS)]);
      for await (const event of dht.provide(entry.cid, { signal }))
        if (event.name === 'PEER_RESPONSE' && event.messageName === 'ADD_PROVIDER') holders += 1;
    } catch {
      // No peer could be queried; the next new peer will be.
    }
    entry.holders = holders;
  };

  const onPeer = () => {
    if (stop.signal.aborted || newPeers || [...keys.values()].every(({ holders }) => holders >= REPLICAS)) return;
    newPeers = setTimeout(() => {
      newPeers = undefined;
      publishing = publishing.then(async () => {
        for (const entry of keys.values()) if (entry.holders < REPLICAS) await publish(entry);
      });
    }, NEW_PEERS_DELAY_MS).unref();
  };
  node.addEventListener('peer:identify', onPeer);
  const refreshing = setInterval(() => {
    publishing = publishing.then(async () => {
      for (const entry of keys.values()) await publish(entry);
    });
  }, RECORDS.provideEveryMs).unref();

  return {
    async provide(key) {
      const cid = await cidOf(key);
      const name = cid.toString();
      if (keys.has(name)) return;
      if (keys.size >= RECORDS.maxProvided) throw new ProviderError(`${keys.size} keys are already provided`);
      const entry = { cid, holders: 0 };
      keys.set(name, entry);
      // Without peers a query would wait for the first one.
      if (node.getPeers().length > 0) publishing = publishing.then(() => publish(entry));
      await publishing;
    },
    find: (key, { signal }) => findProviders(node, gate, key, AbortSignal.any([signal, stop.signal])),
    async [Symbol.asyncDispose]() {
      stop.abort();
      clearTimeout(newPeers);
      clearInterval(refreshing);
      node.removeEventListener('peer:identify', onPeer);
      await publishing;
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
  const yielded = new Set<string>();
  const dialledFor = new Map<string, number>();
  const connected: string[] = [];
  const dials = new Set<Promise<void>>();
  const dial = async (id: PeerId, addresses: readonly Multiaddr[]) => {
    try {
      await node.dial(addresses.length > 0 ? [...addresses] : id, { signal });
      connected.push(id.toString());
    } catch {
      // Offline, or not reachable from here.
    }
  };
  try {
    for await (const event of node.services.dht.findProviders(cid, { signal })) {
      if (event.name !== 'PROVIDER') continue;
      for (const provider of event.providers) {
        const id = provider.id.toString();
        if (yielded.has(id) || !gate.isAllowed(id)) continue;
        if (node.getConnections(provider.id).length > 0) {
          yielded.add(id);
          connected.push(id);
          continue;
        }
        // An answer may name any peer at any address: it must not make this host dial arbitrary targets.
        const answerer = event.from.toString();
        const count = dialledFor.get(answerer) ?? 0;
        if (count >= RECORDS.maxDialledPerAnswerer || yielded.size >= RECORDS.maxFound) break;
        dialledFor.set(answerer, count + 1);
        yielded.add(id);
        while (dials.size >= RECORDS.parallelFinds) await Promise.race(dials);
        const addresses = worthDialling(provider, isFar(node, event.from));
        const dialled = dial(provider.id, addresses).finally(() => dials.delete(dialled));
        dials.add(dialled);
      }
      yield* connected.splice(0);
    }
  } catch (error) {
    // On a timeout, the results so far are kept.
    if (!signal.aborted) throw error;
  }
  while (dials.size > 0) {
    await Promise.race(dials);
    yield* connected.splice(0);
  }
  yield* connected.splice(0);
}

/** Whether a peer is connected from outside this machine and its LAN. */
function isFar(node: Libp2p, peer: PeerId): boolean {
  const multiaddrs = node.getConnections(peer).map(({ remoteAddr }) => remoteAddr);
  return removePrivateAddressesMapper({ id: peer, multiaddrs }).multiaddrs.length > 0;
}

/** A few of its addresses; no LAN addresses if they were reported by a peer outside the LAN. */
export function worthDialling(provider: PeerInfo, isReportedFromAfar: boolean): readonly Multiaddr[] {
  const { id, multiaddrs } = isReportedFromAfar ? removePrivateAddressesMapper(provider) : provider;
  const suffix = `/p2p/${id}`;
  return multiaddrs
    .slice(0, KNOWN_PEERS.maxAddresses)
    .map((address) => (address.toString().endsWith(suffix) ? address : multiaddr(`${address}${suffix}`)));
}

/** A CID of raw content with this digest, the form that the DHT's keys require. */
async function cidOf(key: Uint8Array): Promise<CID> {
  return CID.createV1(RAW_CODEC, await sha256.digest(key));
}

interface DhtMessage {
  readonly closer: readonly unknown[];
  readonly providers: readonly unknown[];
}

/** The part of the DHT that answers queries; its type is private, and there is no option for this. */
interface Answering {
  readonly rpc: { handleMessage(peer: PeerId, message: DhtMessage): Promise<unknown> };
}

class DhtLimitError extends Error {
  override readonly name = 'DhtLimitError';
}

const MAX_REMEMBERED = 10_000;

/** Messages that are too large or too frequent are not answered: libp2p aborts their stream. */
function limitDht(dht: KadDHT, connectionsTo: (peer: PeerId) => readonly Connection[]): KadDHT {
  const peers = new RateLimiter({ ...RECORDS.messages, now: Date.now, maxNames: MAX_REMEMBERED });
  const hosts = new RateLimiter({ ...RECORDS.hostMessages, now: Date.now, maxNames: MAX_REMEMBERED });
  const { rpc } = dht as unknown as Answering;
  const answer = rpc.handleMessage.bind(rpc);
  rpc.handleMessage = async (peer, message) => {
    if (message.closer.length + message.providers.length > RECORDS.maxPeersPerMessage)
      throw new DhtLimitError('a message names too many peers');
    const [connection] = connectionsTo(peer);
    const host = connection ? remoteHost(connection.remoteAddr) : '';
    if (peers.take(peer.toString()) > 0 || hosts.take(host) > 0) throw new DhtLimitError('messages come too often');
    return answer(peer, message);
  };
  return dht;
}
