// Assembles and starts the libp2p host.
import { dcutr } from '@libp2p/dcutr';
import { gossipsub } from '@libp2p/gossipsub';
import { identify, identifyPush } from '@libp2p/identify';
import { peerIdFromPrivateKey } from '@libp2p/peer-id';
import { ping } from '@libp2p/ping';
import { createLibp2p } from 'libp2p';
import { createChannels } from './channels/channels.ts';
import { addressOptions, farthestFirst, isLoopbackOnly } from './connections/addresses.ts';
import { createGate } from './connections/gate.ts';
import { listeningService, relayServer, reserveAtRelays } from './connections/relay.ts';
import { connectedPeers, RoundTrips, watchPeers } from './connections/round-trips.ts';
import { transportOptions } from './connections/transports.ts';
import { BoundedDatastore } from './discovery/bounded-datastore.ts';
import { createProviders, dhtService } from './discovery/providers.ts';
import { createGossip, gossipsubOptions } from './gossip.ts';
import { loadKey, lockKey } from './identity/key-file.ts';
import { networkKeyOf } from './identity/private-network.ts';
import { JoinError, joinTarget, readJoinTarget } from './join/join-target.ts';
import { createJoinToken } from './join/join-token.ts';
import { keepJoined } from './join/keep-joined.ts';
import { KnownPeers, rememberPeers } from './join/known-peers.ts';
import { createLan } from './join/lan.ts';
import { IDENTIFY, LIVENESS, RECORDS } from './limits.ts';
import type { PeerNode, PeerNodeOptions } from './peer-node.ts';
import { Penalties } from './penalties.ts';

/** Rejects with KeyFileError (also if another host uses the key), JoinError (of an invalid target) or ListenError. */
export async function startPeerNode(options: PeerNodeOptions): Promise<PeerNode> {
  const targets = (options.join ?? []).map(readJoinTarget);
  const networkKey = networkKeyOf(options.networkKey, targets);
  const isPrivate = networkKey !== undefined;
  await using held = new AsyncDisposableStack();
  held.use(await lockKey(options.keyFile));
  const privateKey = await loadKey(options.keyFile);
  const knownPeers = await KnownPeers.load(options.knownPeersFile);
  const peerId = peerIdFromPrivateKey(privateKey);
  const id = peerId.toString();
  const isDialable = options.listen.length > 0 || (options.announce ?? []).length > 0;
  const arePrivateAddressesAnnounced = options.arePrivateAddressesAnnounced ?? true;
  const { liveness = LIVENESS } = options;
  const penalties = new Penalties();
  const lan = (options.isMdnsOn ?? true) && !isLoopbackOnly(options.listen) ? createLan(networkKey) : undefined;

  const gate = createGate(id, {
    allow: options.allow,
    named: targets.map(({ peer }) => peer.toString()),
    connections: (peer) => node.getConnections(peer),
    isBusy: (connection) => channels.isOn(connection),
    onRefused: options.onRefused ?? (() => {}),
  });
  const node = await createLibp2p({
    start: false,
    privateKey,
    // The software information that other hosts receive contains no version.
    nodeInfo: { name: 'strata', version: '0', userAgent: 'strata' },
    addresses: addressOptions(options, arePrivateAddressesAnnounced ? undefined : peerId),
    ...transportOptions(networkKey),
    connectionGater: gate.gater,
    connectionMonitor: {
      pingInterval: liveness.pingIntervalMs,
      pingTimeout: { minTimeout: liveness.pingTimeoutMs, maxTimeout: liveness.pingTimeoutMs },
    },
    datastore: new BoundedDatastore(RECORDS),
    peerDiscovery: lan ? [lan.discovery] : [],
    services: {
      identify: identify(identifyOptions),
      identifyPush: identifyPush(identifyOptions),
      ping: ping({ maxInboundStreams: LIVENESS.maxPings, maxOutboundStreams: LIVENESS.maxPings }),
      dht: dhtService({ arePrivateAddressesAnnounced, isDialable }),
      pubsub: gossipsub(gossipsubOptions(penalties)),
      dcutr: dcutr(),
      listening: listeningService,
      ...(options.isRelay && { relay: relayServer() }),
    },
  });

  const stop = new AbortController();
  const channels = createChannels(node);
  const providers = createProviders(node, gate);
  const roundTrips = new RoundTrips(node);
  rememberPeers(node, knownPeers, stop.signal);
  lan?.meet(node, gate);
  if (!isDialable) reserveAtRelays(node, stop.signal);
  let keeping: Promise<void> = Promise.resolve();
  let ended: Promise<void> | undefined;
  const end = async () => {
    stop.abort();
    roundTrips[Symbol.dispose]();
    channels.abortAll();
    await keeping;
    await providers[Symbol.asyncDispose]();
    await node.stop();
    await knownPeers[Symbol.asyncDispose]();
  };
  held.defer(end);
  try {
    await node.start();
  } catch (error) {
    throw listenErrorFrom(error);
  }
  const owned = held.move();
  keeping = keepJoined(node, targets, knownPeers, { isPrivate, signal: stop.signal });
  const addresses = () => node.getMultiaddrs().map(String);

  return {
    id,
    addresses,
    joinToken: () =>
      createJoinToken({
        peer: id,
        addresses: farthestFirst(peerId, node.getMultiaddrs()),
        ...(networkKey && { networkKey }),
      }),
    sign: async (bytes) => privateKey.sign(bytes),
    channels,
    gossip: createGossip(node.services.pubsub, gate, penalties),
    peers: {
      async join(target, { signal }) {
        const to = readJoinTarget(target);
        if (to.networkKey && (!networkKey || Buffer.compare(to.networkKey, networkKey) !== 0))
          throw new JoinError('this join token is for another private network: configure it before the host starts');
        return [await joinTarget(node, to, { isPrivate, signal })];
      },
      connected: () => connectedPeers(node),
      watch: (listener, signal) => watchPeers(node, listener, AbortSignal.any([signal, stop.signal])),
      roundTripMs: (peer) => roundTrips.of(peer),
      provide: (key) => providers.provide(key),
      find: (key, { signal }) => providers.find(key, { signal }),
    },
    [Symbol.asyncDispose]() {
      ended ??= owned.disposeAsync();
      return ended;
    },
  };
}

const identifyOptions = {
  maxInboundStreams: IDENTIFY.maxStreams,
  maxOutboundStreams: IDENTIFY.maxStreams,
  maxObservedAddresses: IDENTIFY.maxObservedAddresses,
  timeout: IDENTIFY.timeoutMs,
};

/** Contains `address`, the reason, and the setting to change. */
class ListenError extends Error {
  override readonly name = 'ListenError';
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program, or by another host on this machine',
  EACCES: 'needs a privilege that this process does not have',
  EADDRNOTAVAIL: 'is not an address of this machine',
};

/** Converts a startup failure to a ListenError where it is one. */
function listenErrorFrom(cause: unknown): unknown {
  const message = cause instanceof Error ? cause.message : '';
  const [, code = '', address] = /listen (E[A-Z]+): .*?(\S+:\d+)$/m.exec(message) ?? [];
  const reason = REASONS[code];
  if (address === undefined || reason === undefined) return cause;
  return new ListenError(`the address ${address} ${reason}: set another one with listen=… of STRATA_P2P`, { cause });
}
