// The interface of a network host: identity, connections, channels to peers, gossip, and content discovery.
import type { Channel } from './channels/channel.ts';

export interface PeerNode extends AsyncDisposable {
  /** Peer id, base58: the hash of its key, or the key itself (Ed25519). */
  readonly id: string;
  /** Multiaddrs at which other hosts can reach it, each with its peer id; may grow while it runs. */
  addresses(): readonly string[];
  /**
   * A token with which other hosts join it. With a network key it is a secret. Throws JoinTokenError while it has no
   * address.
   */
  joinToken(): string;
  /** Ed25519 signature with the key of the peer id. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  readonly channels: Channels;
  readonly gossip: Gossip;
  readonly peers: Peers;
}

export interface Channels {
  /** Opens a channel over an existing connection, or dials one. Rejects with ChannelError. */
  open(peer: string, protocol: string, options: { readonly signal: AbortSignal }): Promise<Channel>;
  /** Called for every channel that a peer opens; a protocol has one listener. */
  handle(protocol: string, listener: (channel: Channel) => void): Promise<void>;
}

/** `accept` is forwarded; `ignore` is not; `reject` is not, and penalizes the neighbour that sent it. */
export type Verdict = 'accept' | 'ignore' | 'reject';

export interface Gossip {
  /** Called once for each message, signed by `from`. The verdict is synchronous: no message waits for I/O. */
  subscribe(topic: string, hear: (message: Uint8Array, from: string) => Verdict): Promise<void>;
  /** Sends to connected subscribers; resolves when the message was passed on. */
  publish(topic: string, message: Uint8Array): Promise<void>;
}

export interface ConnectedPeer {
  readonly id: string;
  readonly address: string;
  /** Which side dialled. */
  readonly direction: 'inbound' | 'outbound';
  /** Whether bytes or time are limited, as through a relay. */
  readonly isLimited: boolean;
  readonly connectedAt: Date;
}

export interface PeerEvent {
  readonly kind: 'connected' | 'disconnected';
  readonly peer: string;
}

export interface Peers {
  /**
   * Multiaddr with a peer id, or a join token. Resolves with the peer ids reached; rejects with JoinError if none was.
   */
  join(target: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  connected(): readonly ConnectedPeer[];
  /** Until the signal is aborted. Existing connections are reported first. */
  watch(listener: (event: PeerEvent) => void, signal: AbortSignal): void;
  /** Round trip in milliseconds, the median of the last pings; undefined until known. */
  roundTripMs(peer: string): number | undefined;
  /** Publishes in the DHT that this host provides the key, as long as it runs; the records are renewed. */
  provide(key: Uint8Array): Promise<void>;
  /** Dials the providers of the key; yields the peer ids that are connected. */
  find(key: Uint8Array, options: { readonly signal: AbortSignal }): AsyncIterable<string>;
}

export interface PeerNodeOptions {
  /** Ed25519 key, created if missing; readable by its owner only. */
  readonly keyFile: string;
  /** Multiaddrs to listen at; empty: other hosts cannot dial it. */
  readonly listen: readonly string[];
  /** Multiaddrs to announce instead, for hosts behind a forwarded port. */
  readonly announce?: readonly string[];
  /**
   * Multiaddrs or join tokens of bootstrap nodes; tried until one answers, and whenever none of them is connected. The
   * network key of a token becomes the key of this node.
   */
  readonly join?: readonly string[];
  /** Pre-shared key of a private network, 32 bytes: hosts without it cannot communicate with this one. */
  readonly networkKey?: Uint8Array;
  /** Peer ids that may connect; undefined: all may. */
  readonly allow?: readonly string[];
  /**
   * Called with the peer id of a host that is not on the allow-list: once a minute for each, for the operator's log.
   */
  readonly onRefused?: (peer: string) => void;
  /** Whether to discover peers on the LAN; on by default, unless it listens on loopback only. */
  readonly isMdnsOn?: boolean;
  /** Whether to relay connections of other hosts; off by default. */
  readonly isRelay?: boolean;
  /** File of previously reached addresses: a restart needs no bootstrap node. */
  readonly knownPeersFile?: string;
  /** Whether loopback and private addresses are announced; on by default, so that a LAN works. */
  readonly arePrivateAddressesAnnounced?: boolean;
  /** Ping interval and timeout; default `LIVENESS`. */
  readonly liveness?: { readonly pingIntervalMs: number; readonly pingTimeoutMs: number };
}
