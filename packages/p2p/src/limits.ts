// Every limit of the host, chosen explicitly. The defaults of libp2p suit short requests between unknown peers; here a
// few connections carry long answers. "Default" in the comments refers to libp2p 3.3.

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;

export const CONNECTIONS = {
  /**
   * Default 300. A gateway holds one for each worker; an idle one costs 30 KiB of heap and up to 400 KiB of memory in
   * total (TLS). At the limit, idle connections of addresses with many connections are closed (gate.ts),
   * or the new one is refused.
   */
  max: 1024,
  /** Default: none. A peer needs one, and temporarily two when both dial or a relayed one becomes direct. */
  maxPerPeer: 4,
  /**
   * Default 5. Workers behind one NAT, or on one machine, reconnect together when a gateway restarts. A handshake costs
   * about 10 ms of CPU time, so one host cannot use much more than half a core.
   */
  maxInboundPerHostPerSecond: 64,
  /** Default 10, over all hosts: silent sockets of one host would lock out all other hosts. */
  maxPending: 512,
  /** Default: none. One machine cannot use all pending slots: that takes 32 machines. */
  maxPendingPerHost: 16,
  /** At the connection limit: an address keeps this many connections with a channel, further ones may be evicted. */
  maxBusyPerHostWhenFull: 128,
  /** At the connection limit: a connection without a channel counts as idle after this time. */
  idleWhenFullMs: MINUTE_MS,
  /** Default 10,000, kept: a worker with all cores busy takes seconds for a handshake. Then its slot is released. */
  inboundUpgradeTimeoutMs: 10_000,
  /** Default 100: dials cost CPU time, and find() and known peers request many at once. */
  maxParallelDials: 32,
  /** Default 500. */
  maxQueuedDials: 256,
  /** Default 25. A forged address list must not make this host dial a victim repeatedly. */
  maxAddressesPerDial: 12,
  /**
   * Default 10,000 for all addresses of a peer: two that never answer, as on another LAN, must leave time for a third.
   */
  dialTimeoutMs: 15_000,
  /** Default 6,000, kept for the same reason as the handshake timeout. */
  addressTimeoutMs: 6_000,
  /** Default 10,000, for a round trip of one packet. */
  protocolTimeoutMs: 10_000,
} as const;

export const LIVENESS = {
  /**
   * Default 10,000: a peer that disappeared (power, cable) is detected within 13 s, and its connection aborted. 200
   * idle peers cost 6 % of a core, mostly for pings.
   */
  pingIntervalMs: 8_000,
  /** Default 5,000: longer than a busy event loop should ever block. */
  pingTimeoutMs: 5_000,
  /** Defaults 2 in and 1 out, too few when the monitor and a latency measurement overlap. */
  maxPings: 8,
} as const;

export const IDENTIFY = {
  /** Default 1: two may overlap when addresses change. */
  maxStreams: 2,
  /** Default 5,000; see the handshake timeout of a busy worker. */
  timeoutMs: 10_000,
  /** Default 10: addresses observed by other peers are not trusted anyway. */
  maxObservedAddresses: 4,
} as const;

export const STREAMS = {
  /** Defaults 32 in and 64 out for each protocol: a channel carries many requests, so this leaves a margin. */
  maxChannelsPerPeer: 64,
  /** Default 1,000 of all protocols on one connection. */
  maxPerConnection: 256,
  /** Default 256 KiB, as in the yamux specification. */
  windowBytes: 256 * KIB,
  /**
   * Default 16 MiB, more than the 4 MiB that may be unread before the stream is aborted, so that a slow reader would
   * lose its stream. 1 MiB still gives 10 MiB/s at a round trip of 100 ms.
   */
  maxWindowBytes: MIB,
  /** Default 4 MiB, kept: a window fits. */
  maxUnreadBytes: 4 * MIB,
  /**
   * Default: none. A sender that does not await `send` loses its channel instead of exhausting the process's memory.
   */
  maxUnsentBytes: 32 * MIB,
  /** Default 120,000. A channel may be silent while a worker waits for its first request. */
  idleTimeoutMs: 60 * MINUTE_MS,
  /** Default 120,000, of the socket. Pings keep it active; without them the other side is offline. */
  socketIdleTimeoutMs: 2 * MINUTE_MS,
  /**
   * Unread bytes of all channels together, which peers can make this host hold. Above it the peer that holds the most
   * loses a channel.
   */
  maxInboxBytes: 256 * MIB,
  /** Per peer: two messages of maximum length. */
  maxInboxBytesPerPeer: 8 * MIB,
  /** Unsent bytes of all channels together; per peer the limit of one channel. */
  maxOutboxBytes: 256 * MIB,
  /** From the first byte of a message to its last: 4 MiB at 70 KiB/s. */
  messageTimeoutMs: MINUTE_MS,
} as const;

export const GOSSIP = {
  /** Default: only that of a frame. Gossip goes to every peer; an offer has a few KiB. */
  maxMessageBytes: 128 * KIB,
  /** Default 4 MiB, kept: one frame may contain everything missed in some seconds. */
  maxFrameBytes: 4 * MIB,
  /** Default: none. Messages that a slow peer has not accepted are dropped, not queued. */
  maxUnsentBytes: 8 * MIB,
  /** Default 2 minutes, kept: older messages are stale offers. */
  deduplicationMs: 2 * MINUTE_MS,
  /** Messages of one signer: 32 at once and 4 per second. It sends an offer every 30 s, and again on changes. */
  signer: { limit: 32, period: 8_000, refill: 'steady' },
  /**
   * Messages that one neighbour may forward, of all signers: 2,000 at once and 1,000 per second, for 1,000 workers with
   * an offer each second. Further ones are ignored.
   */
  neighbour: { limit: 2_000, period: 2_000, refill: 'steady' },
  /** Default 1 MiB, about 1,000 topics: this network has only a few. */
  maxTopicBytesPerPeer: 64 * KIB,
  /** Defaults 5,000 of each in one frame. */
  maxMessagesPerFrame: 512,
  maxIdsPerFrame: 1_024,
  /** Signers whose rate is tracked. */
  maxSigners: 10_000,
} as const;

export const RECORDS = {
  /**
   * Records in memory, for peers and providers each; the least recently used are evicted. Default: unbounded, so that
   * any peer could fill it.
   */
  max: 32_768,
  maxValueBytes: 64 * KIB,
  /** Default: unbounded. A response contains all of them, each read from memory; a lookup does not use more either. */
  maxProvidersPerKey: 64,
  /** Default: unbounded. A worker provides one key per model: one peer cannot evict the records of other peers. */
  maxKeysPerProvider: 64,
  /** Default 48 h. An offline worker stays listed for half an hour, and records are renewed every 10 minutes. */
  providerValidityMs: 30 * MINUTE_MS,
  provideEveryMs: 10 * MINUTE_MS,
  /** Default 32 in: a query opens one stream to a peer. Each may hold one message of at most 4 MiB. */
  maxStreams: 16,
  /**
   * Defaults 10 and 10, with which a query contacts nearly every peer of a small network. 3 is Kademlia's own number.
   */
  parallelQueries: 3,
  disjointPaths: 3,
  /**
   * Default: none. 64 messages at once and 8 per second: a query costs up to 5 ms; a lookup is a few messages, about
   * one a minute.
   */
  messages: { limit: 64, period: 8_000, refill: 'steady' },
  /** For one machine, or all machines behind one NAT, 64 per second: one machine can have any number of keys. */
  hostMessages: { limit: 512, period: 8_000, refill: 'steady' },
  /** A message names its sender as provider, and some 20 closer peers. Each peer costs a lookup in memory. */
  maxPeersPerMessage: 64,
  /** Keys that this host provides: other peers store no more of it. */
  maxProvided: 64,
  /** Providers of one key that are dialled concurrently. */
  parallelFinds: 8,
  /** New ones per lookup, and those that one peer named. A later lookup continues with those not yet connected. */
  maxFound: 64,
  maxDialledPerAnswerer: 32,
} as const;

export const RELAY = {
  /** Default 15: a relay is run deliberately, for a group of workers behind NAT. */
  maxReservations: 256,
  /** Default 2 h: the slot of an offline worker is released sooner. */
  reservationMs: 60 * MINUTE_MS,
  /** Default 2 minutes, less than a long answer takes. An interrupted answer continues over a new connection. */
  connectionMs: 60 * MINUTE_MS,
  /** Default 128 KiB, less than one long prompt. Tokens cost about 50 bytes each, a vocabulary some MiB, once. */
  connectionBytes: 256 * MIB,
  /** Relays at which a host that cannot be dialled reserves a slot: one may go offline. */
  maxUsed: 2,
  /** Delay before a relay that refused or timed out is tried again; doubled after each try. */
  retryMs: 1_000,
  maxRetryMs: MINUTE_MS,
} as const;

export const KNOWN_PEERS = {
  max: 256,
  /** Of those, peers known only from announcements, which any peer can forge with any number of keys. */
  maxAnnounced: 128,
  maxAddresses: 4,
  dialledAtOnce: 8,
} as const;

export const JOIN = {
  /** First delay between attempts; doubles up to the maximum, each randomized between half and all of it. */
  retryMs: 500,
  longestRetryMs: MINUTE_MS,
} as const;
