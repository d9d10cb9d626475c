// What many clients ask at once: of ten questions five are for profiles, four of them not asked before, and one finds nothing.
import { companyOf } from './seed.ts';

export const KINDS = ['profile', 'changes', 'search', 'market', 'missing'] as const;
export type Kind = (typeof KINDS)[number];

const ROUND: readonly Kind[] = [
  ...(['profile', 'profile', 'changes', 'profile', 'search'] as const),
  ...(['profile', 'changes', 'market', 'profile', 'missing'] as const),
];
/** The profile of these is asked for again and again. */
const WELL_KNOWN = 20;
const CATEGORIES = ['dns', 'email', 'cdn', 'hosting', 'email_sending'] as const;

export interface MixedQuestion {
  readonly kind: Kind;
  readonly path: string;
}

/** A client that steps by this requests every new profile once before any twice. */
export function mixedQuestions(companies: number): () => MixedQuestion {
  let turn = -1;
  let fresh = WELL_KNOWN;
  const next = () => {
    fresh = fresh + 1 < companies ? fresh + 1 : WELL_KNOWN;
    return companyOf(fresh);
  };
  return () => {
    turn += 1;
    const kind = ROUND[turn % ROUND.length] as Kind;
    switch (kind) {
      case 'profile':
        return { kind, path: `/stack/v1/domains/${turn % ROUND.length === 0 ? companyOf(turn % WELL_KNOWN) : next()}` };
      case 'changes':
        return { kind, path: `/stack/v1/domains/${companyOf((turn * 7) % companies)}/changes` };
      case 'search':
        return { kind, path: `/stack/v1/search?q=${turn % 1_000}&limit=20` };
      case 'market':
        return { kind, path: `/stack/v1/intelligence/market-share?category=${CATEGORIES[turn % CATEGORIES.length]}` };
      case 'missing':
        return { kind, path: `/stack/v1/providers/unknown-${turn}` };
      default:
        return kind satisfies never;
    }
  };
}
