// What many clients ask at once: of ten questions five are for profiles, four of them not asked before, and one finds nothing.
import { companyOf } from './seed.ts';

const ROUND = [
  ...(['known', 'profile', 'changes', 'profile', 'search'] as const),
  ...(['profile', 'changes', 'market', 'profile', 'missing'] as const),
];
/** Companies whose profiles are asked for again and again. */
const WELL_KNOWN = 20;
const CATEGORIES = ['dns', 'email', 'cdn', 'hosting', 'email_sending'] as const;

/** Paths, one after the other; every new profile comes once before any comes twice. */
export function mixedQuestions(companies: number): () => string {
  let turn = -1;
  let fresh = WELL_KNOWN;
  return () => {
    turn += 1;
    switch (ROUND[turn % ROUND.length]) {
      case 'known':
        return `/stack/v1/domains/${companyOf(turn % WELL_KNOWN)}`;
      case 'changes':
        return `/stack/v1/domains/${companyOf((turn * 7) % companies)}/changes`;
      case 'search':
        return `/stack/v1/search?q=${turn % 1_000}&limit=20`;
      case 'market':
        return `/stack/v1/intelligence/market-share?category=${CATEGORIES[turn % CATEGORIES.length]}`;
      case 'missing':
        return `/stack/v1/providers/unknown-${turn}`;
      default:
        fresh = fresh + 1 < companies ? fresh + 1 : WELL_KNOWN;
        return `/stack/v1/domains/${companyOf(fresh)}`;
    }
  };
}
