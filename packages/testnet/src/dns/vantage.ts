// What happens to answers between the recursive resolver and whoever asks it: packets get lost, others answer first.
import { type Random, randomFor } from '../random.ts';

export interface VantageOptions {
  /** Share of UDP questions that get no answer; 0.05 with faults. */
  readonly lossShare?: number;
  /** Share of UDP answers that come with somebody's attempt to answer for other names; 0.02 with faults. */
  readonly poisonShare?: number;
}

/** `twin`: an answer to another question comes first, with the right id; `stranger`: records of another name come along. */
export type Poison = 'twin' | 'stranger';

export interface Vantage {
  isLost(): boolean;
  poison(): Poison | null;
}

/** In the order of questions, which differs from run to run where many are asked at once. */
export function vantageOf(seed: string, { lossShare = 0, poisonShare = 0 }: VantageOptions): Vantage {
  const random: Random = randomFor(seed, 'vantage');
  return {
    isLost: () => lossShare > 0 && random.chance(lossShare),
    poison: () => (poisonShare > 0 && random.chance(poisonShare) ? random.pick<Poison>(['twin', 'stranger']) : null),
  };
}

/** Owner of the records that nobody asked for. */
export const STRANGER = 'stranger.example';

/** Each names a provider, so that whoever believes it makes a claim that is wrong. */
const LIES: Readonly<Record<string, unknown>> = {
  A: '23.227.38.65',
  NS: 'ns1.sedoparking.com',
  MX: { preference: 0, exchange: 'aspmx.l.google.com' },
  TXT: ['onetrust-domain-verification=0123456789abcdef0123456789abcdef'],
  CNAME: 'shops.myshopify.com',
};

/** A record of another name than the one that was asked for, of the same type where there is a lie of that type. */
export function strangerRecord(type: string): { name: string; type: string; ttl: number; data: unknown } {
  const told = Object.hasOwn(LIES, type) ? type : 'A';
  return { name: STRANGER, type: told, ttl: 86_400, data: LIES[told] };
}
