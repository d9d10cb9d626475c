// Public interface of @strata/p2p: the network host. It transports messages and does not interpret them.
export type { Channel } from './channels/channel.ts';
export { ChannelError } from './channels/inbox.ts';
export { MAX_MESSAGE_BYTES } from './channels/message-reader.ts';
export { ListenError } from './connections/listen-error.ts';
export { GossipError } from './gossip.ts';
export { KeyFileError } from './identity/key-file.ts';
export { verifyPeerSignature } from './identity/peer-signature.ts';
export { JoinError } from './join/join-target.ts';
export { createJoinToken, type JoinToken, JoinTokenError, readJoinToken } from './join/join-token.ts';
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
export {
  NetworkKeyError,
  type PeerDefaults,
  PeerEnvironment,
  type PeerSettings,
  peerNodeOptions,
  readPeerSettings,
} from './settings.ts';
export { startPeerNode } from './start-peer-node.ts';
