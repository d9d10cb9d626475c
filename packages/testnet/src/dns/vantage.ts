// Simulates the path between the recursive resolver and its clients: packet loss and spoofed answers.
import { type Random, randomFor } from '../random.ts';

export interface VantageOptions {
  /** Share of UDP questions without an answer; 0.05 with faults. */
  readonly lossShare?: number;
  /** Share of UDP answers with a poisoning attempt for other names; 0.02 with faults. */
  readonly poisonShare?: number;
}

/**
 * `twin`: an answer to another question arrives first, with the right id; `unrelated`: records of another name are
 * added.
 */
export type Poison = 'twin' | 'unrelated';

export interface Vantage {
  isLost(): boolean;
  poison(): Poison | null;
}

/** In the order of the questions, which differs between runs with concurrent questions. */
export function vantageOf(seed: string, { lossShare = 0, poisonShare = 0 }: VantageOptions): Vantage {
  const random: Random = randomFor(seed, 'vantage');
  return {
    isLost: () => lossShare > 0 && random.chance(lossShare),
    poison: () => (poisonShare > 0 && random.chance(poisonShare) ? random.pick<Poison>(['twin', 'unrelated']) : null),
  };
}

/** Owner name of the unrequested records. */
export const UNRELATED = 'stranger.example';

/** Each names a provider, so that accepting it produces a wrong claim. */
const FORGED: Readonly<Record<string, unknown>> = {
  A: '23.227.38.65',
  NS: 'ns1.sedoparking.com',
  MX: { preference: 0, exchange: 'aspmx.l.google.com' },
  TXT: ['onetrust-domain-verification=0123456789abcdef0123456789abcdef'],
  CNAME: 'shops.myshopify.com',
};

/** A record of another name than the requested one, of the same type if there is forged data of that type. */
export function unrelatedRecord(type: string): { name: string; type: string; ttl: number; data: unknown } {
  const forgedType = Object.hasOwn(FORGED, type) ? type : 'A';
  return { name: UNRELATED, type: forgedType, ttl: 86_400, data: FORGED[forgedType] };
}
