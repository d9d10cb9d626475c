// Transports: TCP, WebSockets or a relay; the pre-shared key encryption of a private network; TLS, or Noise with peers
// without TLS; yamux for many streams on one connection.
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2';
import { noise } from '@libp2p/noise';
import { preSharedKey } from '@libp2p/pnet';
import { tcp } from '@libp2p/tcp';
import { tls } from '@libp2p/tls';
import { webSockets } from '@libp2p/websockets';
import { yamux } from '@libp2p/yamux';
import type { Libp2pOptions } from 'libp2p';
import { presharedKeyFile } from '../identity/private-network.ts';
import { CONNECTIONS, RELAY, STREAMS } from '../limits.ts';

type TransportOptions = Pick<
  Libp2pOptions,
  'transports' | 'connectionEncrypters' | 'streamMuxers' | 'connectionProtector' | 'connectionManager'
>;

export function transportOptions(networkKey: Uint8Array | undefined): TransportOptions {
  return {
    transports: [
      tcp({
        inboundSocketInactivityTimeout: STREAMS.socketIdleTimeoutMs,
        outboundSocketInactivityTimeout: STREAMS.socketIdleTimeoutMs,
        maxConnections: CONNECTIONS.max + CONNECTIONS.maxPending,
        // Tokens are small and must not be delayed.
        dialOpts: { noDelay: true, keepAlive: true },
        listenOpts: { noDelay: true, keepAlive: true },
      }),
      webSockets({ maxBufferedAmount: STREAMS.maxUnreadBytes }),
      circuitRelayTransport({
        maxInboundStopStreams: RELAY.maxReservations,
        maxOutboundStopStreams: RELAY.maxReservations,
      }),
    ],
    // In order of preference: small chunks cost a quarter with TLS (docs/decisions/2026-11-21-libp2p.md).
    connectionEncrypters: [tls(), noise()],
    streamMuxers: [
      yamux({
        maxInboundStreams: STREAMS.maxPerConnection,
        maxOutboundStreams: STREAMS.maxPerConnection,
        // The connection monitor pings; yamux's own keep-alive only tunes windows, and would ping every connection
        // twice.
        enableKeepAlive: false,
        streamOptions: {
          initialStreamWindowSize: STREAMS.windowBytes,
          maxStreamWindowSize: STREAMS.maxWindowBytes,
          inactivityTimeout: STREAMS.idleTimeoutMs,
          maxReadBufferLength: STREAMS.maxUnreadBytes,
          maxWriteBufferLength: STREAMS.maxUnsentBytes,
        },
      }),
    ],
    ...(networkKey && { connectionProtector: preSharedKey({ psk: presharedKeyFile(networkKey) }) }),
    connectionManager: {
      // The gate evicts inbound connections at their limit; above it there is capacity for outbound ones.
      maxConnections: CONNECTIONS.max + CONNECTIONS.maxParallelDials,
      inboundConnectionThreshold: CONNECTIONS.maxInboundPerHostPerSecond,
      maxIncomingPendingConnections: CONNECTIONS.maxPending,
      inboundUpgradeTimeout: CONNECTIONS.inboundUpgradeTimeoutMs,
      maxParallelDials: CONNECTIONS.maxParallelDials,
      maxDialQueueLength: CONNECTIONS.maxQueuedDials,
      maxPeerAddrsToDial: CONNECTIONS.maxAddressesPerDial,
      dialTimeout: CONNECTIONS.dialTimeoutMs,
      addressDialTimeout: CONNECTIONS.addressTimeoutMs,
      inboundStreamProtocolNegotiationTimeout: CONNECTIONS.protocolTimeoutMs,
      outboundStreamProtocolNegotiationTimeout: CONNECTIONS.protocolTimeoutMs,
    },
  };
}
