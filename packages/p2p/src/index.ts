// Public interface of @strata/p2p: the network host. It transports messages and does not interpret them.
export type { Channel } from './channels/channel.ts';
export { ChannelError } from './channels/inbox.ts';
export { MAX_MESSAGE_BYTES } from './channels/message-reader.ts';
export { verifyPeerSignature } from './identity/peer-signature.ts';
export { createJoinToken, readJoinToken } from './join/join-token.ts';
export type * from './peer-node.ts';
export * from './settings.ts';
export { startPeerNode } from './start-peer-node.ts';
