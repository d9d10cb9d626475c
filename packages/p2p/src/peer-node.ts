// What a host of the network offers: one identity, its connections, channels to peers, gossip, and finding who has what.
import type { Channel } from './channels/channel.ts';

export interface PeerNode extends AsyncDisposable {
  /** Peer id, base58: the hash of its key, or the key itself (Ed25519). */
  readonly id: string;
  /** Multiaddrs at which others can reach it, each with its peer id; may grow while it runs. */
  addresses(): readonly string[];
  /** One word with which others join it. With a network key it is a secret. Throws JoinTokenError while it has no address. */
  joinToken(): string;
  /** Ed25519, by the key that the peer id names. */
  sign(bytes: Uint8Array): Promise<Uint8Array>;
  readonly channels: Channels;
  readonly gossip: Gossip;
  readonly peers: Peers;
}

export interface Channels {
  /** Opens a channel over the connection that there is, or dials one. Rejects with ChannelError. */
  open(peer: string, protocol: string, options: { readonly signal: AbortSignal }): Promise<Channel>;
  /** Hears every channel that a peer opens; a protocol has one listener. */
  handle(protocol: string, listener: (channel: Channel) => void): Promise<void>;
}

/** `accept` is passed on; `ignore` is not; `reject` is not, and counts against whoever sent it. */
export type Verdict = 'accept' | 'ignore' | 'reject';

export interface Gossip {
  /** Hears each message once. `from` signed it. The verdict is needed at once: no message waits for I/O. */
  subscribe(topic: string, hear: (message: Uint8Array, from: string) => Verdict): Promise<void>;
  /** To whoever listens, as far as there are connections; resolves when it was handed on. */
  publish(topic: string, message: Uint8Array): Promise<void>;
}

export interface ConnectedPeer {
  readonly id: string;
  readonly address: string;
  /** Who dialled. */
  readonly direction: 'inbound' | 'outbound';
  /** Whether bytes or time are limited, as through a relay of others. */
  readonly isLimited: boolean;
  readonly connectedAt: Date;
}

export interface PeerEvent {
  readonly kind: 'connected' | 'disconnected';
  readonly peer: string;
}

export interface Peers {
  /** Multiaddr with a peer id, or a join token. Resolves with the peer ids reached; rejects with JoinError when none was. */
  join(target: string, options: { readonly signal: AbortSignal }): Promise<readonly string[]>;
  connected(): readonly ConnectedPeer[];
  /** Until the signal is aborted. Connections that there are already are told first. */
  watch(listener: (event: PeerEvent) => void, signal: AbortSignal): void;
  /** Round trip in milliseconds, the median of the last pings; undefined until known. */
  roundTripMs(peer: string): number | undefined;
  /** Tells the network that it has what the key names, for as long as it runs: DHT provider records, refreshed. */
  provide(key: Uint8Array): Promise<void>;
  /** Dials whoever has what the key names; gives the peer ids that are connected. */
  find(key: Uint8Array, options: { readonly signal: AbortSignal }): AsyncIterable<string>;
}

export interface PeerNodeOptions {
  /** Ed25519 key, made when it is not there; readable by its owner alone. */
  readonly keyFile: string;
  /** Multiaddrs to listen at; empty: others cannot dial it. */
  readonly listen: readonly string[];
  /** Multiaddrs to tell others in place of those, for hosts behind a forwarded port. */
  readonly announce?: readonly string[];
  /**
   * Multiaddrs or join tokens of nodes to begin with; tried again until one answers, and while none of them is connected. The
   * network key of a token is taken for this node.
   */
  readonly join?: readonly string[];
  /** Pre-shared key of a private network, 32 bytes: who has not got it cannot even speak to it. */
  readonly networkKey?: Uint8Array;
  /** Peer ids that may connect; undefined: all may. */
  readonly allow?: readonly string[];
  /** Hears the peer id of who came and is not among those: once a minute of each, for the log of who decides. */
  readonly onRefused?: (peer: string) => void;
  /** Whether peers of the same LAN are looked for; on by default, unless it listens on loopback alone. */
  readonly isMdnsOn?: boolean;
  /** Whether others may be relayed through it; off by default. */
  readonly isRelay?: boolean;
  /** File of addresses that were reached before: a restart needs no bootstrap node. */
  readonly knownPeersFile?: string;
  /** Whether loopback and private addresses are told to others; on by default, so that a LAN works. */
  readonly arePrivateAddressesTold?: boolean;
  /** How often connections are probed, and how long an answer may take: `LIVENESS` where left out. */
  readonly liveness?: { readonly pingIntervalMs: number; readonly pingTimeoutMs: number };
}
