// Who gets a request: the worker from which its first token is expected soonest, of two drawn by chance and those that have read its
// beginning before. Pure: what is known of the workers in, a choice out; it looks at a few of them, however many there are.

import type { WeightedDraw } from '../audit/weighted-draw.ts';
import { replayOf } from './replay.ts';
import { maxReadingMs } from './stall-watch.ts';

export interface Candidate {
  readonly peer: string;
  readonly slots: number;
  /** Answers that are made there or wait: ours, and those of others as far as it tells. */
  readonly jobs: number;
  /** Measured by us where there is enough to go by, else as it says. 0: unknown. */
  readonly prefillTokensPerSecond: number;
  readonly decodeTokensPerSecond: number;
  /** Round trip. */
  readonly rttMs: number;
  /** Of this prompt, tokens that it is believed to have read before. */
  readonly cachedTokens: number;
  /** 0 to 1: how far it is trusted. 0: it gets nothing. */
  readonly reputation: number;
  /** It failed lately, cannot take this request, or was asked already. */
  readonly isOpen: boolean;
}

export interface PlacementRequest {
  readonly promptTokens: number;
  /** Of the answer, to be read again before it goes on. */
  readonly replayTokens: number;
}

/** All workers that might be asked. Whoever owns it makes a candidate when it is looked at, not before. */
export interface CandidateField {
  readonly size: number;
  at(index: number): Candidate;
  /** By what each can do: slots times speed. */
  readonly draw: WeightedDraw;
  /** Those that are believed to have read its beginning, the longest first. */
  readonly holders: readonly number[];
}

export interface Placement {
  readonly index: number;
  readonly peer: string;
  readonly expectedFirstTokenMs: number;
}

/** A small model on a few processor cores: who says nothing of its speed is taken for one of these. */
const UNKNOWN_PREFILL_PER_SECOND = 100;
const UNKNOWN_DECODE_PER_SECOND = 10;
/** Of a job that is in the way, as far as one can know: what chats have on average. */
const MEAN_PROMPT_TOKENS = 300;
const MEAN_ANSWER_TOKENS = 200;
/** Given tokens are read one by one as long as that takes no longer; beyond, in one batch. */
const REPLAY_BUDGET_MS = 1_000;
/** Below it a worker gets work only where nobody else is. */
const DOUBTED = 0.25;
/** Of a request's holders, those looked at. */
const MAX_HOLDERS = 2;
/** Free ones among which it chooses. More find the same workers again and again: with 10 the slowest hundredth waits half as long again. */
const DRAWN = 2;
/** Draws before all are looked at. With half of the places taken, all of these miss once in 4,096. */
const MAX_DRAWS = 12;

/** Expected milliseconds from now to the first token, were the request sent there. */
export function expectedFirstTokenMs(candidate: Candidate, { promptTokens, replayTokens }: PlacementRequest): number {
  const perPrefill = 1_000 / (candidate.prefillTokensPerSecond || UNKNOWN_PREFILL_PER_SECOND);
  const perDecode = 1_000 / (candidate.decodeTokensPerSecond || UNKNOWN_DECODE_PER_SECOND);
  const jobMs = MEAN_PROMPT_TOKENS * perPrefill + MEAN_ANSWER_TOKENS * perDecode;
  // Its slots come free one after the other, so many of them within the time of one job.
  const queueMs = (Math.max(0, candidate.jobs - candidate.slots + 1) / candidate.slots) * jobMs;
  const readMs = Math.max(0, promptTokens - candidate.cachedTokens) * perPrefill;
  const isExact =
    replayOf({ givenTokens: replayTokens, decodeTokensPerSecond: 1_000 / perDecode, budgetMs: REPLAY_BUDGET_MS }) ===
    'exact';
  const replayMs = isExact ? replayTokens * perDecode : replayTokens * perPrefill;
  return candidate.rttMs + queueMs + readMs + replayMs + perDecode;
}

/**
 * Undefined when nobody may be asked. Nobody gets more jobs than it has slots while another has a free one. `random` gives numbers
 * from 0 to below 1.
 */
export function choosePlacement(
  field: CandidateField,
  request: PlacementRequest,
  random: () => number,
): Placement | undefined {
  const best = new Best(field, request);
  const seen = field.holders.slice(0, MAX_HOLDERS);
  for (const index of seen) best.look(index);
  let free = 0;
  for (let i = 0; i < MAX_DRAWS && free < DRAWN; i++) {
    const index = field.draw.draw(random());
    if (index < 0 || seen.includes(index)) continue;
    seen.push(index);
    if (best.look(index) === FREE) free += 1;
  }
  if (best.rank !== FREE) for (let index = 0; index < field.size; index++) best.look(index);
  return best.placement;
}

/** Better ones first: trusted and free; trusted; doubted; not to be asked. */
const FREE = 0;
const FULL = 1;
const LAST_RESORT = 2;
const NEVER = 3;

/** The best of those looked at. It makes nothing for those that are not: when all are full, all are looked at. */
class Best {
  readonly #field: CandidateField;
  readonly #request: PlacementRequest;
  #index = -1;
  #score = Number.POSITIVE_INFINITY;
  rank = NEVER;

  constructor(field: CandidateField, request: PlacementRequest) {
    this.#field = field;
    this.#request = request;
  }

  /** Gives its rank. */
  look(index: number): number {
    const candidate = this.#field.at(index);
    const expectedMs = expectedFirstTokenMs(candidate, this.#request);
    const rank = rankOf(candidate, expectedMs, this.#request);
    if (rank === NEVER || rank > this.rank) return rank;
    // Half the trust: it must be twice as soon.
    const score = expectedMs / candidate.reputation;
    if (rank === this.rank && score >= this.#score) return rank;
    this.#index = index;
    this.#score = score;
    this.rank = rank;
    return rank;
  }

  get placement(): Placement | undefined {
    if (this.#index < 0) return undefined;
    const candidate = this.#field.at(this.#index);
    return {
      index: this.#index,
      peer: candidate.peer,
      expectedFirstTokenMs: expectedFirstTokenMs(candidate, this.#request),
    };
  }
}

function rankOf(candidate: Candidate, expectedMs: number, { promptTokens, replayTokens }: PlacementRequest): number {
  if (candidate.isOpen || candidate.reputation <= 0) return NEVER;
  if (candidate.reputation < DOUBTED) return LAST_RESORT;
  // A free place of one that would be given up before its first token is none: it competes with those that are full.
  const isSoon = expectedMs <= maxReadingMs(promptTokens + replayTokens);
  return isSoon && candidate.jobs < candidate.slots ? FREE : FULL;
}
