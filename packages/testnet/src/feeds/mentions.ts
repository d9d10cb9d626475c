// Which companies items mention: a few often, most of them rarely, with a favourite that changes every other day.
import { hashOf, type Random, randomFor } from '../random.ts';

interface MentionsOptions {
  readonly seed: string;
  /** Existing companies. */
  readonly companies: readonly string[];
  /** Domains outside the simulated internet. */
  readonly outsiders: readonly string[];
}

const FAVOURITE_SHARE = 0.15;
const FAVOURITE_DAYS = 2;
const OUTSIDER_SHARE = 0.04;

/** Draws a domain to mention on a day; null without candidates. */
export type DrawMention = (random: Random, day: number) => string | null;

export function createMentions({ seed, companies, outsiders }: MentionsOptions): DrawMention {
  const ranked = companies
    .map((domain) => ({ domain, at: hashOf(seed, 'feed-rank', domain) }))
    .sort((a, b) => a.at - b.at)
    .map(({ domain }) => domain);
  return (random, day) => {
    if (outsiders.length > 0 && random.chance(OUTSIDER_SHARE)) return random.pick(outsiders);
    if (ranked.length === 0) return null;
    if (random.chance(FAVOURITE_SHARE)) {
      return randomFor(seed, 'feed-favourite', Math.floor(day / FAVOURITE_DAYS)).pick(ranked);
    }
    // Log-uniform ranks: the n-th is mentioned 1/n as often as the first (Zipf's law).
    const rank = Math.floor(ranked.length ** random.next()) - 1;
    return ranked[rank] ?? null;
  };
}
