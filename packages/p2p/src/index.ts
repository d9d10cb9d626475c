// What @strata/p2p offers: the host of the network. It carries messages and understands none of them.
export { type Channel, ChannelError, MOST_MESSAGE_BYTES } from './channel.ts';
export type { Channels, ConnectedPeer, Gossip, PeerNode, PeerNodeOptions, Peers, Verdict } from './peer-node.ts';
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
