// The libp2p host, put together.

import { readFile, writeFile } from 'node:fs/promises';
import { generateKeyPair, privateKeyFromProtobuf, privateKeyToProtobuf } from '@libp2p/crypto/keys';
import { identify } from '@libp2p/identify';
import { peerIdFromString } from '@libp2p/peer-id';
import { ping } from '@libp2p/ping';
import { tcp } from '@libp2p/tcp';
import { tls } from '@libp2p/tls';
import { yamux } from '@libp2p/yamux';
import { multiaddr } from '@multiformats/multiaddr';
import { createLibp2p } from 'libp2p';
import { ChannelError, openChannel } from './channel.ts';
import type { PeerNode, PeerNodeOptions } from './peer-node.ts';

export async function startPeerNode(options: PeerNodeOptions): Promise<PeerNode> {
  const privateKey = await readFile(options.keyFile).then(privateKeyFromProtobuf, async () => {
    const made = await generateKeyPair('Ed25519');
    await writeFile(options.keyFile, privateKeyToProtobuf(made), { mode: 0o600 });
    return made;
  });
  const node = await createLibp2p({
    privateKey,
    addresses: { listen: [...options.listen] },
    transports: [tcp()],
    connectionEncrypters: [tls()],
    streamMuxers: [yamux()],
    services: { identify: identify(), ping: ping() },
    connectionManager: { inboundConnectionThreshold: 1000 },
  });
  const hears = new Map<string, (message: Uint8Array, from: string) => unknown>();
  return {
    id: node.peerId.toString(),
    addresses: () => node.getMultiaddrs().map(String),
    sign: async (bytes) => privateKey.sign(bytes),
    channels: {
      async open(peer, protocol, { signal }) {
        try {
          const stream = await node.dialProtocol(peerIdFromString(peer), protocol, { signal });
          return openChannel(stream, peer);
        } catch (cause) {
          throw new ChannelError(`no channel to ${peer}`, { cause });
        }
      },
      async handle(protocol, listener) {
        await node.handle(
          protocol,
          (stream, connection) => listener(openChannel(stream, connection.remotePeer.toString())),
          { maxInboundStreams: 1_000, maxOutboundStreams: 1_000 },
        );
      },
    },
    gossip: {
      async subscribe(topic, hear) {
        hears.set(topic, hear);
      },
      async publish() {},
    },
    peers: {
      async join(target, { signal }) {
        const connection = await node.dial(multiaddr(target), { signal });
        return [connection.remotePeer.toString()];
      },
      connected: () =>
        node.getConnections().map((connection) => ({
          id: connection.remotePeer.toString(),
          address: connection.remoteAddr.toString(),
          direction: connection.direction,
          isLimited: connection.limits !== undefined,
          connectedAt: new Date(connection.timeline.open),
        })),
      watch(listener, signal) {
        for (const { remotePeer } of node.getConnections())
          listener({ kind: 'connected', peer: remotePeer.toString() });
        const connected = ({ detail }: CustomEvent<{ toString(): string }>) =>
          listener({ kind: 'connected', peer: detail.toString() });
        const disconnected = ({ detail }: CustomEvent<{ toString(): string }>) =>
          listener({ kind: 'disconnected', peer: detail.toString() });
        node.addEventListener('peer:connect', connected);
        node.addEventListener('peer:disconnect', disconnected);
        signal.addEventListener('abort', () => {
          node.removeEventListener('peer:connect', connected);
          node.removeEventListener('peer:disconnect', disconnected);
        });
      },
      async provide() {},
      async *find() {},
    },
    async [Symbol.asyncDispose]() {
      await node.stop();
    },
  };
}
