// Gossip over gossipsub: each message signed, heard once, passed on only where the listener accepts it, and bounded by signer
// and by neighbour.
import { type GossipSub, type GossipsubOpts, TopicValidatorResult } from '@libp2p/gossipsub';
import type { Gate } from '../connections/gate.ts';
import { GOSSIP, STREAMS } from '../limits.ts';
import type { Gossip, Verdict } from '../peer-node.ts';
import { RateLimit } from '../rate-limit.ts';
import type { Conduct } from './penalties.ts';

export class GossipError extends Error {
  override readonly name = 'GossipError';
}

const RESULTS: Record<Verdict, TopicValidatorResult> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
};

/** Below it nothing of a peer is read any more, until it has faded. */
const GRAYLIST_SCORE = -80;
/** So eight rejected messages within half a minute are enough, or eighty of its own beyond what a signer may say. */
const REJECT_POINTS = 10;
const FLOOD_POINTS = 1;

export function gossipsubOptions(conduct: Conduct): Partial<GossipsubOpts> {
  return {
    globalSignaturePolicy: 'StrictSign',
    // The mesh of the specification: 6 neighbours (4 to 12). With fewer peers than that, everyone.
    D: 6,
    Dlo: 4,
    Dhi: 12,
    // One's own messages go to all peers of the topic: small networks have no mesh to speak of.
    floodPublish: true,
    fallbackToFloodsub: false,
    emitSelf: false,
    doPX: false,
    // A first node has nobody to tell yet.
    allowPublishToZeroTopicPeers: true,
    seenTTL: GOSSIP.seenMs,
    maxInboundDataLength: GOSSIP.maxFrameBytes,
    decodeRpcLimits: {
      maxSubscriptions: GOSSIP.maxMessagesPerFrame,
      maxMessages: GOSSIP.maxMessagesPerFrame,
      maxControlMessages: GOSSIP.maxMessagesPerFrame,
      maxIhaveMessageIDs: GOSSIP.maxIdsPerFrame,
      maxIwantMessageIDs: GOSSIP.maxIdsPerFrame,
      maxIdontwantMessageIDs: GOSSIP.maxIdsPerFrame,
      maxPeerInfos: 16,
    },
    maxOutboundBufferSize: GOSSIP.maxUnsentBytes,
    maxTopicBytesPerPeer: GOSSIP.maxTopicBytesPerPeer,
    maxInboundStreams: STREAMS.maxChannelsPerPeer,
    maxOutboundStreams: STREAMS.maxChannelsPerPeer,
    // A relay's bytes are for channels.
    runOnLimitedConnection: false,
    scoreThresholds: { graylistThreshold: GRAYLIST_SCORE },
    scoreParams: {
      // Workers of one site share an address; the default punishes more than 10.
      IPColocationFactorWeight: 0,
      appSpecificScore: (peer) => -conduct.points(peer, Date.now()),
      appSpecificWeight: 1,
    },
  };
}

/** Whom the gate does not allow is not heard through others either. */
export function createGossip(pubsub: GossipSub, gate: Gate, conduct: Conduct): Gossip {
  const signers = new RateLimit({
    burst: GOSSIP.signerBurst,
    perSecond: GOSSIP.signerPerSecond,
    max: GOSSIP.maxSigners,
  });
  const neighbours = new RateLimit({
    burst: GOSSIP.neighbourBurst,
    perSecond: GOSSIP.neighbourPerSecond,
    max: GOSSIP.maxSigners,
  });
  return {
    async subscribe(topic, hear) {
      if (pubsub.topicValidators.has(topic)) throw new GossipError(`the topic ${topic} has a listener`);
      pubsub.topicValidators.set(topic, (neighbour, message) => {
        if (message.type !== 'signed') return TopicValidatorResult.Reject;
        const nowMs = Date.now();
        const from = message.from.toString();
        if (!gate.isAllowed(from)) return TopicValidatorResult.Ignore;
        // An honest neighbour passes on what strangers with many keys say, each within its bound: that is not held against it.
        if (!neighbours.take(neighbour.toString(), nowMs)) return TopicValidatorResult.Ignore;
        if (!signers.take(from, nowMs)) {
          if (from === neighbour.toString()) conduct.add(from, FLOOD_POINTS, nowMs);
          return TopicValidatorResult.Ignore;
        }
        const isTooLong = message.data.byteLength > GOSSIP.maxMessageBytes;
        const verdict = isTooLong ? 'reject' : hear(message.data, from);
        if (verdict === 'reject') conduct.add(neighbour.toString(), REJECT_POINTS, nowMs);
        return RESULTS[verdict];
      });
      pubsub.subscribe(topic);
    },
    async publish(topic, message) {
      if (message.byteLength > GOSSIP.maxMessageBytes)
        throw new GossipError(`a message of ${message.byteLength} bytes is too long for gossip`);
      await pubsub.publish(topic, message);
    },
  };
}
