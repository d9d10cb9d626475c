// What @strata/p2p offers: the host of the network. It carries messages and understands none of them.
export type { Channel } from './channel.ts';
export { GossipError } from './gossip.ts';
export { ChannelError } from './inbox.ts';
export { JoinError } from './join-target.ts';
export { createJoinToken, type JoinToken, JoinTokenError, readJoinToken } from './join-token.ts';
export { KeyFileError } from './key-file.ts';
export { ListenError } from './listen-error.ts';
export { MAX_MESSAGE_BYTES } from './message-reader.ts';
export type {
  Channels,
  ConnectedPeer,
  Gossip,
  PeerEvent,
  PeerNode,
  PeerNodeOptions,
  Peers,
  Verdict,
} from './peer-node.ts';
export { verifyPeerSignature } from './peer-signature.ts';
export {
  NetworkKeyError,
  type PeerDefaults,
  PeerEnvironment,
  type PeerSettings,
  peerNodeOptions,
  readPeerSettings,
} from './settings.ts';
export { startPeerNode } from './start-peer-node.ts';
