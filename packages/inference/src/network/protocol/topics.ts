// Names for discovery: the DHT key of gateways, and the gossip topic of offers.
import { sha256 } from '@noble/hashes/sha2.js';

/** Key of the gateways' provider records in the DHT. */
export const GATEWAY_KEY: Uint8Array = sha256(new TextEncoder().encode('strata-gateway-v1'));

/** Gossip topic of signed offers: each message is an encoded `offer` frame. */
export const OFFERS_TOPIC = 'strata/offers/1';
