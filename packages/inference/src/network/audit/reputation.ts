// How far a worker is trusted: what audits of its answers found, weighed as they come, and forgotten little by little.
// docs/trust.md has the mathematics and the error rates.
import { z } from 'zod';

/** Plain data, so that it can be kept over a restart. */
export const Reputation = z
  .object({
    /** Audits and tokens checked in all. */
    audits: z.number().min(0),
    tokens: z.number().min(0),
    /** Audits, each counting half after a week: how well it is known. */
    recentAudits: z.number().min(0),
    /** Logarithm of the odds against an honest worker, counted from where they spoke for one last: 0 speaks for it. */
    evidence: z.number().min(0),
    /** The same, but what clean audits take from it while under suspicion is little: who cheats only unwatched gathers it. */
    lasting: z.number().min(0),
    /** Times that it was quarantined, each counting half after a month: how long the next one lasts. */
    strikes: z.number().min(0),
    state: z.enum(['new', 'good', 'suspect', 'quarantined']),
    /** When the numbers above were last worked out. */
    changedAtMs: z.number(),
    /** When the quarantine ends. */
    untilMs: z.number().optional(),
    /** Why it was quarantined last, in words. */
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

/** What scoring found of one worker's part of an answer, in nats of logits. */
export interface Margins {
  /** For each of the worker's own tokens. */
  readonly margins: readonly number[];
  /** Of the answer's end; undefined: the model did not end it. */
  readonly end?: number;
}

export type Finding =
  /** An audit of one answer. */
  | ({ readonly kind: 'scored' } & Margins)
  /** As a verifier it said of an answer what others, or the known truth, deny. Two of these convict. */
  | { readonly kind: 'misjudged' }
  /** Something that no honest worker does: a forged receipt, counts that are not so. */
  | { readonly kind: 'proof'; readonly reason: string };

/** A margin beyond this says no more: one token in a thousand may be odd for reasons of its own. */
const CLIP_NATS = 1;
/** What the end weighs beside all tokens together: of a long answer that was cut short, everything else is right. */
const END_WEIGHT = 1 / 8;
/**
 * An honest worker's mean deviation may be so large. It grows with the square of the error of the logits: an error of 0.02 nats
 * gives some 0.0001, one of 0.05 less than 0.001. Side by side, from caches and
 * by fast replay, llama.cpp was measured below 0.0001.
 */
export const TOLERATED_DEVIATION = 0.0015;
/** Part of the odds that is bet on each audit; below 1 / TOLERATED_DEVIATION, so that the odds stay above 0. */
const STAKE = 160;
/** Odds of e^17: by Ville's inequality an honest worker sees them with a chance of at most 2 × 10,000 × e^-17 = 0.08 % in 10,000 audits. */
export const CONVICTION = 17;
/** With which a worker comes back: as many nats of clean audits, 31, and its reputation is good. */
const PROBATION = CONVICTION / 2;
/** 50 answers at ten times the usual share of 2 %. */
const ACQUAINTED_AUDITS = 10;
const NEW_WORKER_FACTOR = 10;
const SUSPECT_FACTOR = 25;
/** Lasting evidence beyond this, though nothing else is held against it: audited as newcomers are. */
const DOUBT = 1;
/** An audit of every second answer stands for so many fewer answers than one of every fiftieth. */
const WATCHED_STAKE = STAKE / SUSPECT_FACTOR;
/** Less than anyone known, and enough to become known. */
const NEW_WORKER_TRUST = 0.5;
/** Before quarantine; some work is needed to be cleared by it. */
const MIN_TRUST = 0.02;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HALF_LIFE_MS = 7 * DAY_MS;
const STRIKES_HALF_LIFE_MS = 30 * DAY_MS;
/** The first time; each further one lasts twice as long as the one before. */
const QUARANTINE_MS = HOUR_MS;
const PROOF_QUARANTINE_MS = DAY_MS;
const MAX_QUARANTINE_MS = 30 * DAY_MS;

/**
 * How far an answer is from what the model would have given, 0 to 1: the mean of its margins, each at most a nat, and with an
 * eighth of the weight the margin of its end. One number for an answer, however long: its tokens follow from each other and are
 * no independent witnesses.
 */
export function deviation({ margins, end }: Margins): number {
  const ofEnd = Math.min(end ?? 0, CLIP_NATS);
  if (margins.length === 0) return ofEnd;
  const ofTokens = margins.reduce((sum, margin) => sum + Math.min(margin, CLIP_NATS), 0) / margins.length;
  return end === undefined ? ofTokens : ofTokens * (1 - END_WEIGHT) + ofEnd * END_WEIGHT;
}

/** Reputation after a finding; a quarantined worker stays as it is, but for proofs, which prolong. */
export function afterFinding(before: Reputation, finding: Finding, nowMs: number): Reputation {
  const reputation = atTime(before, nowMs);
  switch (finding.kind) {
    case 'proof':
      return quarantined(reputation, { forMs: PROOF_QUARANTINE_MS, reason: finding.reason, nowMs });
    case 'misjudged':
      return weighed(
        reputation,
        { gain: CONVICTION / 2, lasting: 0 },
        { reason: 'misjudged answers of others', nowMs },
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

/** Reputation as it is now: what was long ago counts less, and a quarantine that is over is probation. */
export function atTime(reputation: Reputation, nowMs: number): Reputation {
  const { untilMs, ...rest } = reputation;
  if (untilMs !== undefined) {
    if (nowMs < untilMs) return faded(reputation, nowMs);
    const released = {
      ...faded(rest, untilMs),
      evidence: PROBATION,
      lasting: 0,
      recentAudits: 0,
      state: 'suspect' as const,
    };
    return atTime(released, nowMs);
  }
  return classed(faded(rest, nowMs));
}

/** Share of this worker's answers to audit, given the configured share for those with a good reputation; 0 to 1. */
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

/** 0 to 1, for placement: 1 with a good reputation, 0.5 unknown, less with the evidence; 0 for quarantined alone. */
export function trust({ state, evidence, recentAudits }: Reputation): number {
  if (state === 'quarantined') return 0;
  const known = recentAudits < ACQUAINTED_AUDITS ? NEW_WORKER_TRUST : 1;
  return known * Math.max(MIN_TRUST, (1 - evidence / CONVICTION) ** 2);
}

/**
 * What a bet at fair odds against the worker's honesty brings. While its expected deviation is at most the tolerated one, the
 * product of the odds is expected not to grow, whatever the distribution, and however answers depend on each other.
 */
function gainOf(found: number, stake: number): number {
  return Math.log(1 + stake * (found - TOLERATED_DEVIATION));
}

function weighed(
  reputation: Reputation,
  { gain, lasting: lastingGain }: { readonly gain: number; readonly lasting: number },
  { reason, nowMs }: { readonly reason: string; readonly nowMs: number },
): Reputation {
  // Answers from before the quarantine that are only audited now are what it was quarantined for.
  if (reputation.state === 'quarantined') return reputation;
  const evidence = Math.max(0, reputation.evidence + gain);
  const lasting = Math.max(0, reputation.lasting + lastingGain);
  const isConvicted = Math.max(evidence, lasting) >= CONVICTION;
  const weighedReputation = { ...reputation, evidence, lasting };
  return isConvicted
    ? quarantined(weighedReputation, { forMs: QUARANTINE_MS, reason, nowMs })
    : classed(weighedReputation);
}

function quarantined(
  reputation: Reputation,
  { forMs, reason, nowMs }: { readonly forMs: number; readonly reason: string; readonly nowMs: number },
): Reputation {
  // Many proofs of one time are one strike.
  const strikes = reputation.state === 'quarantined' ? reputation.strikes : reputation.strikes + 1;
  const lastsMs = Math.round(Math.min(forMs * 2 ** Math.max(0, strikes - 1), MAX_QUARANTINE_MS));
  const untilMs = Math.max(nowMs + lastsMs, reputation.untilMs ?? 0);
  return { ...reputation, strikes, state: 'quarantined', changedAtMs: nowMs, untilMs, reason };
}

function faded(reputation: Reputation, nowMs: number): Reputation {
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

function classed(reputation: Reputation): Reputation {
  if (reputation.evidence > 0) return { ...reputation, state: 'suspect' };
  return { ...reputation, state: reputation.recentAudits < ACQUAINTED_AUDITS ? 'new' : 'good' };
}
