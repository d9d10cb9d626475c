// Every bound of the host, set on purpose. The defaults of libp2p are made for short requests between strangers; here a few
// connections carry long answers. "Default" in the comments is that of libp2p 3.3.

const KIB = 1024;
const MIB = 1024 * KIB;
const MINUTE_MS = 60_000;

export const CONNECTIONS = {
  /**
   * Default 300. A gateway holds one for each worker; an idle one costs 30 KiB of heap and up to
   * 400 KiB of memory in all (TLS). When it is reached, idle ones of crowded addresses are closed (connection-to-evict.ts), or the new one is refused.
   */
  max: 1024,
  /** Default: none. A peer needs one, and two for a moment when both dial or a relayed one becomes direct. */
  maxPerPeer: 4,
  /**
   * Default 5. Workers behind one NAT, or on one machine, come back together when a gateway restarts. A handshake costs about
   * 10 ms of processor, so one host cannot take much more than half a core.
   */
  maxInboundPerHostPerSecond: 64,
  /** Default 10, over all hosts: strangers who open sockets and say nothing would lock everyone out. */
  maxPending: 512,
  /** Default: none. One machine does not fill those of all: it takes 32 of them. */
  maxPendingPerHost: 16,
  /** When all places are taken: so many connections of one address keep theirs while they have a channel, the rest may lose it. */
  maxBusyPerHostWhenFull: 128,
  /** When all places are taken: after it a connection without a channel is idle. */
  idleWhenFullMs: MINUTE_MS,
  /** Default 10,000, kept: a worker whose cores all compute takes seconds for a handshake. Then it gives its place back. */
  inboundUpgradeTimeoutMs: 10_000,
  /** Default 100: dials cost processor, and find() and known peers ask for many at once. */
  maxParallelDials: 32,
  /** Default 500. */
  maxQueuedDials: 256,
  /** Default 25. A stranger's list of addresses must not make this host dial a victim again and again. */
  maxAddressesPerDial: 12,
  /** Default 10,000 for all addresses of a peer: two that never answer, as those of another LAN, must leave time for a third. */
  dialTimeoutMs: 15_000,
  /** Default 6,000, kept, for the same reason as that of the handshake. */
  addressTimeoutMs: 6_000,
  /** Default 10,000, for a round trip of one packet. */
  protocolTimeoutMs: 10_000,
} as const;

export const LIVENESS = {
  /**
   * Default 10,000: a peer that went without a word (power, cable) is found 13 s later at most, and its connection aborted. 200
   * idle peers cost 6 % of a core, most of it for pings.
   */
  pingIntervalMs: 8_000,
  /** Default 5,000: longer than any pause of a busy event loop should be. */
  pingTimeoutMs: 5_000,
  /** Defaults 2 in and 1 out, too few where the monitor and a measurement of distance meet. */
  maxPings: 8,
} as const;

export const IDENTIFY = {
  /** Default 1: two may cross when addresses change. */
  maxStreams: 2,
  /** Default 5,000, and of a busy worker as with the handshake. */
  timeoutMs: 10_000,
  /** Default 10: what strangers say of this host's address is not believed anyway. */
  maxObservedAddresses: 4,
} as const;

export const STREAMS = {
  /** Defaults 32 in and 64 out for each protocol: a channel carries many requests, so this is room for mistakes. */
  maxChannelsPerPeer: 64,
  /** Default 1,000 of all protocols on one connection. */
  maxPerConnection: 256,
  /** Default 256 KiB, as the yamux specification has it. */
  windowBytes: 256 * KIB,
  /**
   * Default 16 MiB, more than the 4 MiB that may lie unread before the stream is aborted, so that a slow reader would lose
   * its stream. 1 MiB still gives 10 MiB/s at a round trip of 100 ms.
   */
  maxWindowBytes: MIB,
  /** Default 4 MiB, kept: a window fits. */
  maxUnreadBytes: 4 * MIB,
  /** Default: none. A sender that does not wait for `send` loses its channel in place of the process its memory. */
  maxUnsentBytes: 32 * MIB,
  /** Default 120,000. A channel may be silent while a worker waits for its first request. */
  idleTimeoutMs: 60 * MINUTE_MS,
  /** Default 120,000, of the socket. Pings keep it busy; without them the other side is gone. */
  socketIdleTimeoutMs: 2 * MINUTE_MS,
  /** Unread bytes of all channels together: what strangers can make this host hold. Beyond it who holds most loses a channel. */
  maxInboxBytes: 256 * MIB,
  /** Of one peer: a message of the longest, twice. */
  maxInboxBytesPerPeer: 8 * MIB,
  /** Unsent bytes of all channels together; of one peer no more than of one channel. */
  maxOutboxBytes: 256 * MIB,
  /** From the first byte of a message to its last: 4 MiB at 70 KiB/s. */
  messageTimeoutMs: MINUTE_MS,
} as const;

export const GOSSIP = {
  /** Default: none but that of a frame. Gossip goes to everyone; an offer has a few KiB. */
  maxMessageBytes: 128 * KIB,
  /** Default 4 MiB, kept: a frame answers for all that was missed in some seconds. */
  maxFrameBytes: 4 * MIB,
  /** Default: none. What a slow peer has not taken is dropped, not kept. */
  maxUnsentBytes: 8 * MIB,
  /** Default 2 minutes, kept: older messages are stale offers. */
  seenMs: 2 * MINUTE_MS,
  /** A signer may say so many at once, and so many a second: an offer each 30 s, and again when something changed. */
  signerBurst: 32,
  signerPerSecond: 4,
  /** Messages that one neighbour may bring, of all signers: 1,000 workers with an offer each second. The rest is not heard. */
  neighbourBurst: 2_000,
  neighbourPerSecond: 1_000,
  /** Default 1 MiB, about 1,000 topics: this network has a handful. */
  maxTopicBytesPerPeer: 64 * KIB,
  /** Defaults 5,000 of each in one frame. */
  maxMessagesPerFrame: 512,
  maxIdsPerFrame: 1_024,
  /** Signers whose rate is remembered. */
  maxSigners: 10_000,
} as const;

export const RECORDS = {
  /** Records in memory, of peers and of providers each; the least recently used go first. Default: unbounded, for anyone to fill. */
  max: 32_768,
  maxValueBytes: 64 * KIB,
  /** Default: unbounded. Whoever asks is answered with all of them, each read from memory; a look-up uses no more either. */
  maxProvidersPerKey: 64,
  /** Default: unbounded. A worker provides one key for each model: one peer cannot push the records of others out. */
  maxKeysPerProvider: 64,
  /** Default 48 h. Workers come and go: who is gone is believed for half an hour, and records are told again each 10 minutes. */
  providerValidityMs: 30 * MINUTE_MS,
  provideEveryMs: 10 * MINUTE_MS,
  /** Default 32 in: a query opens one stream to a peer. Each may hold one message of at most 4 MiB. */
  maxStreams: 16,
  /** Defaults 10 and 10, with which a query asks nearly everyone of a small network. 3 is Kademlia's own number. */
  parallelQueries: 3,
  disjointPaths: 3,
  /** Default: none. What a peer asks costs up to 5 ms; a look-up is a few messages, and one comes each minute. */
  messageBurst: 64,
  messagesPerSecond: 8,
  /** The same of one machine, or of all behind one NAT: strangers have as many keys as they like. */
  hostMessageBurst: 512,
  hostMessagesPerSecond: 64,
  /** A message names its sender as provider, and some 20 peers that are closer. Each peer costs a look into memory. */
  maxPeersPerMessage: 64,
  /** Keys that this host provides: others keep no more of it. */
  maxProvided: 64,
  /** Providers of one key that are dialled at a time. */
  parallelFinds: 8,
  /** New ones of one look-up, and those of them that one peer named. A later look-up goes on with those not connected yet. */
  maxFound: 64,
  maxDialledPerAnswerer: 32,
} as const;

export const RELAY = {
  /** Default 15: a relay is run on purpose, for a group of workers behind NAT. */
  maxReservations: 256,
  /** Default 2 h: a worker that is gone gives its place back sooner. */
  reservationMs: 60 * MINUTE_MS,
  /** Default 2 minutes, less than a long answer takes. An answer that is cut goes on over a new connection. */
  connectionMs: 60 * MINUTE_MS,
  /** Default 128 KiB, less than one long prompt. Tokens cost about 50 bytes each, a vocabulary some MiB, once. */
  connectionBytes: 256 * MIB,
  /** Relays at which a host that cannot be dialled makes itself reachable: one may go. */
  maxUsed: 2,
  /** Until a relay that refused, or did not answer in time, is asked again: twice as long after each try. */
  retryMs: 1_000,
  maxRetryMs: MINUTE_MS,
} as const;

export const KNOWN_PEERS = {
  max: 256,
  /** Of those, peers that came from elsewhere and said where they are: anyone can, with as many keys as it likes. */
  maxTold: 128,
  maxAddresses: 4,
  dialledAtOnce: 8,
} as const;

export const JOIN = {
  /** First wait between attempts; doubles up to the longest, each between a half and the whole of it. */
  retryMs: 500,
  longestRetryMs: MINUTE_MS,
} as const;
