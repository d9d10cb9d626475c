// Gossip over gossipsub: each message signed, delivered once, forwarded only if the listener accepts it, and
// rate-limited by signer and by neighbour.
import { type GossipSub, type GossipsubOpts, TopicValidatorResult } from '@libp2p/gossipsub';
import { RateLimiter } from '@strata/limits';
import type { Gate } from './connections/gate.ts';
import { GOSSIP, STREAMS } from './limits.ts';
import type { Gossip, Verdict } from './peer-node.ts';
import type { Penalties } from './penalties.ts';

export class GossipError extends Error {
  override readonly name = 'GossipError';
}

const RESULTS: Record<Verdict, TopicValidatorResult> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
};

/** Below this score a peer's messages are ignored until its penalty has decayed. */
const GRAYLIST_SCORE = -80;
/** Eight rejected messages within half a minute reach the limit, or eighty of its own above the signer's rate limit. */
const REJECT_POINTS = 10;
const FLOOD_POINTS = 1;

export function gossipsubOptions(penalties: Penalties): Partial<GossipsubOpts> {
  return {
    globalSignaturePolicy: 'StrictSign',
    // The mesh of the specification: 6 neighbours (4 to 12). With fewer peers, all of them.
    D: 6,
    Dlo: 4,
    Dhi: 12,
    // Own messages go to all peers of the topic: small networks have no useful mesh.
    floodPublish: true,
    fallbackToFloodsub: false,
    emitSelf: false,
    doPX: false,
    // The first node of a network has no peers yet.
    allowPublishToZeroTopicPeers: true,
    seenTTL: GOSSIP.deduplicationMs,
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
    // A relay's bytes are reserved for channels.
    runOnLimitedConnection: false,
    scoreThresholds: { graylistThreshold: GRAYLIST_SCORE },
    scoreParams: {
      // Workers of one site share an address; the default penalizes more than 10.
      IPColocationFactorWeight: 0,
      appSpecificScore: (peer) => -penalties.points(peer, Date.now()),
      appSpecificWeight: 1,
    },
  };
}

/** Messages signed by a peer that the gate does not allow are ignored, also when forwarded by other peers. */
export function createGossip(pubsub: GossipSub, gate: Gate, penalties: Penalties): Gossip {
  const signers = new RateLimiter({ ...GOSSIP.signer, now: Date.now, maxNames: GOSSIP.maxSigners });
  const neighbours = new RateLimiter({ ...GOSSIP.neighbour, now: Date.now, maxNames: GOSSIP.maxSigners });
  return {
    async subscribe(topic, hear) {
      if (pubsub.topicValidators.has(topic)) throw new GossipError(`the topic ${topic} already has a listener`);
      pubsub.topicValidators.set(topic, (neighbour, message) => {
        if (message.type !== 'signed') return TopicValidatorResult.Reject;
        const from = message.from.toString();
        if (!gate.isAllowed(from)) return TopicValidatorResult.Ignore;
        // An honest neighbour forwards messages of many signers, each within its limit: this is not penalized.
        if (neighbours.take(neighbour.toString()) > 0) return TopicValidatorResult.Ignore;
        if (signers.take(from) > 0) {
          if (from === neighbour.toString()) penalties.add(from, FLOOD_POINTS, Date.now());
          return TopicValidatorResult.Ignore;
        }
        const isTooLong = message.data.byteLength > GOSSIP.maxMessageBytes;
        const verdict = isTooLong ? 'reject' : hear(message.data, from);
        if (verdict === 'reject') penalties.add(neighbour.toString(), REJECT_POINTS, Date.now());
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
