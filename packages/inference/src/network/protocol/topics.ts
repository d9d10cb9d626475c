// Names under which nodes of the network find each other: what is looked up in the DHT, and what is told by gossip.
import { sha256 } from '@noble/hashes/sha2.js';

/** Key of the DHT's provider records of gateways. */
export const GATEWAY_KEY: Uint8Array = sha256(new TextEncoder().encode('strata-gateway-v1'));

/** Gossip of signed offers: each message is an encoded `offer` frame. */
export const OFFERS_TOPIC = 'strata/offers/1';
