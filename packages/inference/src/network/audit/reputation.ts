// Reputation of a worker: evidence from audits, accumulated and decaying over time. docs/trust.md has the mathematics
// and the error rates.
import { z } from 'zod';

/** Plain data, so that it can be stored across restarts. */
export const Reputation = z
  .object({
    /** Total number of audits, and of tokens checked. */
    audits: z.number().min(0),
    tokens: z.number().min(0),
    /** Number of audits with a half-life of a week: how well the worker is known. */
    recentAudits: z.number().min(0),
    /** Logarithm of the odds against an honest worker since its last minimum; 0 is in the worker's favour. */
    evidence: z.number().min(0),
    /**
     * Like `evidence`, but clean audits under suspicion reduce it only a little, so that it accumulates for a worker
     * that cheats only while unwatched.
     */
    lasting: z.number().min(0),
    /** Number of quarantines with a half-life of a month; determines the duration of the next one. */
    strikes: z.number().min(0),
    state: z.enum(['new', 'good', 'suspect', 'quarantined']),
    /** When the numbers above were last computed. */
    changedAtMs: z.number(),
    /** When the quarantine ends. */
    untilMs: z.number().optional(),
    /** The reason for the last quarantine, as text. */
    reason: z.string().optional(),
  })
  .readonly();
export type Reputation = z.infer<typeof Reputation>;

export const NEW_WORKER: Reputation = {
  audits: 0,
  tokens: 0,
  recentAudits: 0,
  evidence: 0,
  lasting: 0,
  strikes: 0,
  state: 'new',
  changedAtMs: 0,
};

/** The result of scoring one worker's part of an answer, in nats of logits. */
export interface Margins {
  /** One margin for each of the worker's own tokens. */
  readonly margins: readonly number[];
  /** The margin of the answer's end; undefined if the model did not end it. */
  readonly end?: number;
}

export type Finding =
  /** The audit of one answer. */
  | ({ readonly kind: 'scored' } & Margins)
  /** As a verifier, the worker contradicted other verifiers or a known result. Two of these lead to quarantine. */
  | { readonly kind: 'misjudged' }
  /** Proven misbehaviour: a forged receipt, false token counts. */
  | { readonly kind: 'proof'; readonly reason: string };

/** Margins are clipped here: one token in a thousand may be an outlier for other reasons. */
const CLIP_NATS = 1;
/**
 * The weight of the end relative to all tokens: in an answer that was cut short, all tokens are right and only the end
 * is wrong.
 */
const END_WEIGHT = 1 / 8;
/**
 * The mean deviation that an honest worker may have. The deviation grows with the square of the logits' error: an error
 * of 0.02 nats causes about 0.0001, one of 0.05 nats less than 0.001. llama.cpp with parallel slots, caches and fast
 * replay was measured below 0.0001.
 */
export const TOLERATED_DEVIATION = 0.0015;
/** The stake of the bet on each audit; below 1 / TOLERATED_DEVIATION, so that the odds stay positive. */
const STAKE = 160;
/**
 * Odds of e^17: by Ville's inequality, the probability that an honest worker reaches them in 10,000 audits is at most 2
 * × 10,000 × e^-17 = 0.08 %.
 */
export const CONVICTION = 17;
/** The evidence against a worker that returns from quarantine: 31 clean audits remove it. */
const PROBATION = CONVICTION / 2;
/** 50 answers at ten times the default share of 2 %. */
const ACQUAINTED_AUDITS = 10;
const NEW_WORKER_FACTOR = 10;
const SUSPECT_FACTOR = 25;
/** Above this lasting evidence, a good worker is audited like a new one. */
const DOUBT = 1;
/**
 * An audit of every second answer represents fewer answers than one of every fiftieth, so its stake is reduced in
 * proportion.
 */
const WATCHED_STAKE = STAKE / SUSPECT_FACTOR;
/** Less than the trust of any known worker, but enough to become known. */
const NEW_WORKER_TRUST = 0.5;
/** Minimum trust before quarantine: a worker needs some requests to clear itself. */
const MIN_TRUST = 0.02;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HALF_LIFE_MS = 7 * DAY_MS;
const STRIKES_HALF_LIFE_MS = 30 * DAY_MS;
/** The first quarantine; each subsequent one lasts twice as long. */
const QUARANTINE_MS = HOUR_MS;
const PROOF_QUARANTINE_MS = DAY_MS;
const MAX_QUARANTINE_MS = 30 * DAY_MS;

/**
 * The deviation of an answer from the model, 0 to 1: the mean of its margins, each clipped to one nat, plus the margin
 * of its end with a weight of one eighth. One number per answer of any length, because its tokens depend on each other
 * and are not independent samples.
 */
export function deviation({ margins, end }: Margins): number {
  const ofEnd = Math.min(end ?? 0, CLIP_NATS);
  if (margins.length === 0) return ofEnd;
  const ofTokens = margins.reduce((sum, margin) => sum + Math.min(margin, CLIP_NATS), 0) / margins.length;
  return end === undefined ? ofTokens : ofTokens * (1 - END_WEIGHT) + ofEnd * END_WEIGHT;
}

/** The reputation after a finding. In quarantine only proofs have an effect: they extend it. */
export function afterFinding(before: Reputation, finding: Finding, nowMs: number): Reputation {
  const reputation = atTime(before, nowMs);
  switch (finding.kind) {
    case 'proof':
      return quarantined(reputation, { forMs: PROOF_QUARANTINE_MS, reason: finding.reason, nowMs });
    case 'misjudged':
      return weighed(
        reputation,
        { gain: CONVICTION / 2, lasting: 0 },
        { reason: 'misjudged answers of other workers', nowMs },
      );
    case 'scored': {
      const checked = {
        ...reputation,
        audits: reputation.audits + 1,
        tokens: reputation.tokens + finding.margins.length,
        recentAudits: reputation.recentAudits + 1,
      };
      const reason = 'answers that the model would not have given';
      const found = deviation(finding);
      const lasting = gainOf(found, reputation.state === 'suspect' ? WATCHED_STAKE : STAKE);
      return weighed(checked, { gain: gainOf(found, STAKE), lasting }, { reason, nowMs });
    }
    default:
      return finding satisfies never;
  }
}

/** The current reputation: old findings have decayed, and after a quarantine the worker is on probation. */
export function atTime(reputation: Reputation, nowMs: number): Reputation {
  const { untilMs, ...rest } = reputation;
  if (untilMs !== undefined) {
    if (nowMs < untilMs) return decayed(reputation, nowMs);
    const released = {
      ...decayed(rest, untilMs),
      evidence: PROBATION,
      lasting: 0,
      recentAudits: 0,
      state: 'suspect' as const,
    };
    return atTime(released, nowMs);
  }
  return withState(decayed(rest, nowMs));
}

/**
 * The share of this worker's answers to audit, 0 to 1, given the configured share for workers with a good reputation.
 */
export function auditShare({ state, lasting }: Reputation, configured: number): number {
  switch (state) {
    case 'new':
      return Math.min(1, configured * NEW_WORKER_FACTOR);
    case 'suspect':
      return Math.min(1, configured * SUSPECT_FACTOR);
    case 'good':
      return lasting > DOUBT ? Math.min(1, configured * NEW_WORKER_FACTOR) : configured;
    case 'quarantined':
      return 0;
    default:
      return state satisfies never;
  }
}

/**
 * Trust for placement, 0 to 1: 1 for a good reputation, 0.5 for an unknown worker, less with evidence; 0 only in
 * quarantine.
 */
export function trust({ state, evidence, recentAudits }: Reputation): number {
  if (state === 'quarantined') return 0;
  const known = recentAudits < ACQUAINTED_AUDITS ? NEW_WORKER_TRUST : 1;
  return known * Math.max(MIN_TRUST, (1 - evidence / CONVICTION) ** 2);
}

/**
 * The gain of a bet at fair odds against the worker's honesty. While the worker's expected deviation is at most the
 * tolerated one, the expected product of the odds does not grow, for any distribution and any dependence between
 * answers.
 */
function gainOf(found: number, stake: number): number {
  return Math.log(1 + stake * (found - TOLERATED_DEVIATION));
}

function weighed(
  reputation: Reputation,
  { gain, lasting: lastingGain }: { readonly gain: number; readonly lasting: number },
  { reason, nowMs }: { readonly reason: string; readonly nowMs: number },
): Reputation {
  // Answers from before the quarantine that are audited now are already covered by it.
  if (reputation.state === 'quarantined') return reputation;
  const evidence = Math.max(0, reputation.evidence + gain);
  const lasting = Math.max(0, reputation.lasting + lastingGain);
  const isConvicted = Math.max(evidence, lasting) >= CONVICTION;
  const updated = { ...reputation, evidence, lasting };
  return isConvicted ? quarantined(updated, { forMs: QUARANTINE_MS, reason, nowMs }) : withState(updated);
}

function quarantined(
  reputation: Reputation,
  { forMs, reason, nowMs }: { readonly forMs: number; readonly reason: string; readonly nowMs: number },
): Reputation {
  // Several proofs from the same period are one strike.
  const strikes = reputation.state === 'quarantined' ? reputation.strikes : reputation.strikes + 1;
  const lastsMs = Math.round(Math.min(forMs * 2 ** Math.max(0, strikes - 1), MAX_QUARANTINE_MS));
  const untilMs = Math.max(nowMs + lastsMs, reputation.untilMs ?? 0);
  return { ...reputation, strikes, state: 'quarantined', changedAtMs: nowMs, untilMs, reason };
}

function decayed(reputation: Reputation, nowMs: number): Reputation {
  const passedMs = Math.max(0, nowMs - reputation.changedAtMs);
  const half = 0.5 ** (passedMs / HALF_LIFE_MS);
  return {
    ...reputation,
    recentAudits: reputation.recentAudits * half,
    evidence: reputation.evidence * half,
    lasting: reputation.lasting * half,
    strikes: reputation.strikes * 0.5 ** (passedMs / STRIKES_HALF_LIFE_MS),
    changedAtMs: Math.max(nowMs, reputation.changedAtMs),
  };
}

function withState(reputation: Reputation): Reputation {
  if (reputation.evidence > 0) return { ...reputation, state: 'suspect' };
  return { ...reputation, state: reputation.recentAudits < ACQUAINTED_AUDITS ? 'new' : 'good' };
}
